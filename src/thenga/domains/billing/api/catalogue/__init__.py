"""Routes of plans and meters."""
