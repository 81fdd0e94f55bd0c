"""Compliance's jobs, by room."""

from thenga.domains.compliance.jobs import (  # noqa: F401  # declares them
    documents,
    evidence,
    expiry,
    readiness,
    requirements,
    risks,
    suggestions,
)
from thenga.domains.compliance.jobs.declared import jobs

__all__ = ["jobs"]
