"""Bid: from an open tender to a sealed, provable offer and its outcome."""
