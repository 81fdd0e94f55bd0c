"""What Administration decides."""
