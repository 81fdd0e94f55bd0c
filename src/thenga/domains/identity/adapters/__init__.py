"""What Identity says to the outside world."""
