"""Jobs of integrations."""
