"""Jobs that tell what expires."""
