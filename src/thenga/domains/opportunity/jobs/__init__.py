"""Opportunity's jobs, by room."""

from thenga.domains.opportunity.jobs import (  # noqa: F401  # declares them
    board,
    documents,
    matching,
    notices,
    sources,
)
from thenga.domains.opportunity.jobs.declared import jobs

__all__ = ["jobs"]
