"""Risks that rules raise and people treat."""
