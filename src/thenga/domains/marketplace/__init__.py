"""Marketplace: listings, matching and quote requests. Only its `public` stands yet."""
