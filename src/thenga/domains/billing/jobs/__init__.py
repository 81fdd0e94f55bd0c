"""Billing's jobs, by room."""

from thenga.domains.billing.jobs import (  # noqa: F401  # declares them
    accounts,
    documents,
    payments,
    plans,
    subscriptions,
    usage,
)
from thenga.domains.billing.jobs.declared import jobs

__all__ = ["jobs"]
