"""Dunning: retries, grace, reduced access and the end of an unpaid subscription (BIL-39 to 44)."""

from thenga.domains.billing.services.dunning.collection import (
    blocked_by,
    collect_automatically,
    is_sent,
    method_for,
)
from thenga.domains.billing.services.dunning.failures import (
    decline_category,
    exhaust,
    list_failures,
    open_failure,
    record_decline,
)
from thenga.domains.billing.services.dunning.invoice_clock import run_due_invoice_steps
from thenga.domains.billing.services.dunning.notices import failure_remedy
from thenga.domains.billing.services.dunning.recovery import (
    record_late_payment,
    reinstate,
    run_due_steps,
)
from thenga.domains.billing.services.dunning.retries import retry_now, retry_with_new_method
from thenga.domains.billing.services.dunning.write_offs import write_off

__all__ = [
    "blocked_by",
    "collect_automatically",
    "decline_category",
    "exhaust",
    "failure_remedy",
    "is_sent",
    "list_failures",
    "method_for",
    "open_failure",
    "record_decline",
    "record_late_payment",
    "reinstate",
    "retry_now",
    "retry_with_new_method",
    "run_due_invoice_steps",
    "run_due_steps",
    "write_off",
]
