"""Awards: the stored events that contracts begin with (CON-1 to 4)."""
