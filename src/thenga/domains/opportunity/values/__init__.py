"""Values that services and adapters share."""
