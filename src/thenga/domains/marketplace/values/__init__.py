"""Values that stand in requests, in answers and in JSON columns alike."""
