"""Trials: starting, converting and ending a trial (BIL-17, BIL-18)."""

from thenga.domains.billing.services.trials.conversion_invoices import (
    check_no_charge_in_progress,
    drop_unpaid_conversion,
)
from thenga.domains.billing.services.trials.conversions import (
    ConversionNotPossible,
    ConversionTime,
    convert,
    is_converted,
    lock_trial,
    record_first_payment,
    run_due_trial_steps,
)
from thenga.domains.billing.services.trials.dates import days_left, is_ending
from thenga.domains.billing.services.trials.trials import (
    TrialUsed,
    cancel_trial,
    check_trial_running,
    list_trials,
    plan_of,
    start_trial,
    trial_version,
)

__all__ = [
    "ConversionNotPossible",
    "ConversionTime",
    "TrialUsed",
    "cancel_trial",
    "check_no_charge_in_progress",
    "check_trial_running",
    "convert",
    "days_left",
    "drop_unpaid_conversion",
    "is_converted",
    "is_ending",
    "list_trials",
    "lock_trial",
    "plan_of",
    "record_first_payment",
    "run_due_trial_steps",
    "start_trial",
    "trial_version",
]
