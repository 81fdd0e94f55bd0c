"""Bid's jobs, by room."""

from thenga.domains.bid.jobs import (  # noqa: F401  # declares them
    amendments,
    submission,
    workspaces,
)
from thenga.domains.bid.jobs.declared import jobs

__all__ = ["jobs"]
