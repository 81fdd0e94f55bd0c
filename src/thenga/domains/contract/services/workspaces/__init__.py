"""Contracts: opening, signatures, activation, and who may write to one (CON-2 to 6)."""
