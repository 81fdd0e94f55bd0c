"""Settlement: what providers and banks report, and what it does to payments."""

from thenga.domains.billing.services.settlement.bank_transfers import confirm_transfer
from thenga.domains.billing.services.settlement.provider_results import record_answer
from thenga.domains.billing.services.settlement.webhooks import (
    Received,
    apply_callback,
    apply_report,
    forget_contents,
    list_callbacks,
    pending_callback,
    receive_callback,
    reject_callback,
    replay_callback,
    set_aside,
)

__all__ = [
    "Received",
    "apply_callback",
    "apply_report",
    "confirm_transfer",
    "forget_contents",
    "list_callbacks",
    "pending_callback",
    "receive_callback",
    "record_answer",
    "reject_callback",
    "replay_callback",
    "set_aside",
]
