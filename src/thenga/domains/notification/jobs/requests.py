"""Jobs that plan, release and complete requests."""
