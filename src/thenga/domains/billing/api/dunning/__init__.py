"""Routes of payment failures."""
