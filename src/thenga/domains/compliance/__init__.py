"""Compliance: documents, evidence and readiness. Only what it will tell stands here yet."""
