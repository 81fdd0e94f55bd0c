"""Bid's part of the API: models and routes, one module a resource."""
