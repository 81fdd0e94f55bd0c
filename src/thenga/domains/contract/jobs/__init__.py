"""Contract's jobs, by room."""

from thenga.domains.contract.jobs import money  # noqa: F401  # declares
from thenga.domains.contract.jobs.declared import jobs

__all__ = ["jobs"]
