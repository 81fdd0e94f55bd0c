"""Thenga: the procurement platform for small South African companies."""
