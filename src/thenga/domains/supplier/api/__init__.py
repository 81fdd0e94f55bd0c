"""Supplier over HTTP."""
