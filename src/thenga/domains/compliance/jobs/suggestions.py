"""Jobs that end suggestions."""
