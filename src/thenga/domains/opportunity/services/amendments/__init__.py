"""What changed in a tender, and what that touched."""
