"""Marks readiness for computing again after a change."""

from thenga.domains.compliance.services.recomputing.marking import mark_due

__all__ = ["mark_due"]
