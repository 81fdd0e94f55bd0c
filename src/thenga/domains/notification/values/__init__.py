"""What services and adapters share and no table keeps."""
