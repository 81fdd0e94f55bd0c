"""Supplier: suppliers, quotes, ratings and trust. Only its port of trust stands here yet."""
