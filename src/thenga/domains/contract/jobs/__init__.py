"""Contract's jobs, by room."""

from thenga.domains.contract.jobs import contracts, money  # noqa: F401  # declares them
from thenga.domains.contract.jobs.declared import jobs

__all__ = ["jobs"]
