"""Jobs that send deliveries and apply what providers report."""
