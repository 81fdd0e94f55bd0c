"""Values that services and adapters share and that are no rows."""
