"""Flows: what a customer does from end to end, through several domains."""
