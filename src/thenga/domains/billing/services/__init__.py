"""Billing's business rules, by room."""
