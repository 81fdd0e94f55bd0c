"""What Compliance decides."""
