"""Opportunity's jobs, by room."""

from thenga.domains.opportunity.jobs import (  # noqa: F401  # declares them
    board,
    matching,
    notices,
)
from thenga.domains.opportunity.jobs.declared import jobs

__all__ = ["jobs"]
