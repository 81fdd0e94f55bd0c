"""Documents and their files."""
