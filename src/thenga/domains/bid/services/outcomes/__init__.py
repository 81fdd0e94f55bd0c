"""Outcomes: what became of a bid, and what Contract is told."""
