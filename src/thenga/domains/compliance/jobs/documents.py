"""Jobs that scan files and destroy them in the end."""
