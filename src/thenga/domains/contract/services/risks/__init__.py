"""Risks of a contract (CON-38)."""
