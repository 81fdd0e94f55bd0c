"""What expires, and when it is told."""
