"""Benchmarks: the real routes beside bare functions that send the same SQL, in one run."""
