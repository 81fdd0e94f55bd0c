"""Routes of the journal and of account statements."""
