"""What Marketplace does."""
