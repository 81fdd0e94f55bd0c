"""Funding: cash needs, options and applications. Only its `public` stands yet."""
