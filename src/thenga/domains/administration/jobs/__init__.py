"""Administration's jobs, by room."""

from thenga.domains.administration.jobs import (  # noqa: F401  # declares them
    integrations,
    policies,
    support,
)
from thenga.domains.administration.jobs.declared import jobs

__all__ = ["jobs"]
