"""Values that services of Bid share and that are no tables."""
