"""What machines suggest and people review."""
