"""Subscription state: the transitions that all other rooms share."""

from thenga.domains.billing.services.subscription_state.signup_expiry import (
    expire_previous_signup,
    is_signup_expired,
    run_due_signup_steps,
)
from thenga.domains.billing.services.subscription_state.transitions import (
    UNPAID_FOR,
    activate,
    begin_periods,
    change_awaited_until,
    change_ends_at,
    change_event,
    drop_change,
    end_subscription,
    ends_with_period,
    publish_change,
    restart_periods,
    restore_former_change,
    schedule_next_check,
)

__all__ = [
    "UNPAID_FOR",
    "activate",
    "begin_periods",
    "change_awaited_until",
    "change_ends_at",
    "change_event",
    "drop_change",
    "end_subscription",
    "ends_with_period",
    "expire_previous_signup",
    "is_signup_expired",
    "publish_change",
    "restart_periods",
    "restore_former_change",
    "run_due_signup_steps",
    "schedule_next_check",
]
