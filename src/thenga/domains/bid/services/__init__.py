"""What Bid decides."""
