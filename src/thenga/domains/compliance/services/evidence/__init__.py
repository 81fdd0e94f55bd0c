"""Evidence and its verification."""
