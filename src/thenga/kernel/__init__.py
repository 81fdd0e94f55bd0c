"""What every domain needs and no domain owns."""
