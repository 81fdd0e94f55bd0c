"""Marketplace's tables, by area; each area is imported from its own module."""
