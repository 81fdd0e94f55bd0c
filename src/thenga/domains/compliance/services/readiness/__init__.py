"""Readiness on a day, and for the dates of one tender."""
