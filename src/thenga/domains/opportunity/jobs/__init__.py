"""Opportunity's jobs, by room."""

from thenga.domains.opportunity.jobs import documents, sources  # noqa: F401  # declares them
from thenga.domains.opportunity.jobs.declared import jobs

__all__ = ["jobs"]
