"""What Compliance decides, by room."""
