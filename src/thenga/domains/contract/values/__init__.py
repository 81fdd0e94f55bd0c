"""Values of Contract that several layers share and that are no rows."""
