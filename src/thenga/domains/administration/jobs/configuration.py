"""Jobs of settings."""
