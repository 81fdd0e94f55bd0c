"""Jobs of support cases."""
