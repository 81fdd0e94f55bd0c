"""Decisions of Opportunity, by room."""
