"""Access: what an unpaid, paused or ended subscription still allows, and from when (BIL-41)."""

from thenga.domains.billing.services.access.dunning_steps import (
    DunningStep,
    due_steps,
    next_dunning_check,
    next_retry,
    recheck_invoice,
    retries_left,
    stop_recovery,
)
from thenga.domains.billing.services.access.levels import (
    StandingStep,
    access_level,
    access_reductions,
    access_steps,
    dunning_dates,
    dunning_policy_of,
    earliest_failure,
    ends_at,
    exhausts_at,
    grace_ends_at,
    is_reminder_only,
    retry_dates,
    unsettled_failure,
)

__all__ = [
    "DunningStep",
    "StandingStep",
    "access_level",
    "access_reductions",
    "access_steps",
    "due_steps",
    "dunning_dates",
    "dunning_policy_of",
    "earliest_failure",
    "ends_at",
    "exhausts_at",
    "grace_ends_at",
    "is_reminder_only",
    "next_dunning_check",
    "next_retry",
    "recheck_invoice",
    "retries_left",
    "retry_dates",
    "stop_recovery",
    "unsettled_failure",
]
