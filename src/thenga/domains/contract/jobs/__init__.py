"""Contract's jobs, by room."""

from thenga.domains.contract.jobs.declared import jobs

__all__ = ["jobs"]
