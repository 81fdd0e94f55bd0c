"""Bid's jobs, by room."""

from thenga.domains.bid.jobs.declared import jobs

__all__ = ["jobs"]
