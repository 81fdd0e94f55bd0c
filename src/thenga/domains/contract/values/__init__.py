"""Values that rooms, routes and rows share."""
