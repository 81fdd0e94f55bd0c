"""What Organization decides."""
