"""Decisions of Contract, in rooms."""
