"""Marketplace over HTTP."""
