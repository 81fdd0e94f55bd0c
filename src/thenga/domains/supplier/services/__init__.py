"""What Supplier decides."""
