"""Jobs of policies."""
