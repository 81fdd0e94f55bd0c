"""Notification's jobs, by room."""

from thenga.domains.notification.jobs import (  # noqa: F401  # declares them
    delivery,
    escalations,
    reminders,
    requests,
)
from thenga.domains.notification.jobs.declared import jobs

__all__ = ["jobs"]
