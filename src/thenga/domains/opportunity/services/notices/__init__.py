"""Tenders: captured, published, found and moved by time."""
