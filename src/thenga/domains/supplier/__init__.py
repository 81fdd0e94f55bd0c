"""Supplier: who can deliver. Profiles and capabilities stand; quotes and trust come next."""
