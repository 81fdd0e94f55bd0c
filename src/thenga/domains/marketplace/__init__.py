"""Marketplace: listings, matching and quote requests."""
