"""Thenga: the procurement platform for small South African companies."""

__version__ = "0.2.0"
