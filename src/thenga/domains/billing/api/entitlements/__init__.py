"""Routes of entitlements and grants."""
