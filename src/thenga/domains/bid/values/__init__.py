"""Values that several rooms of Bid share and that are no tables."""
