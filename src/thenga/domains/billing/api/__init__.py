"""Billing's routes, one module for each resource."""
