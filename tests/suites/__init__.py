"""Suites: each proves one promise of the whole with a figure, and catches a bug planted for it."""
