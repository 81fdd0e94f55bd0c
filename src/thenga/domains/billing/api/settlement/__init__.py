"""Routes of provider callbacks."""
