"""What Identity decides."""
