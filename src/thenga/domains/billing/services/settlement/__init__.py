"""Settlement: reports from providers and banks, and what they do to payments."""

from thenga.domains.billing.services.settlement.bank_transfers import confirm_transfer
from thenga.domains.billing.services.settlement.provider_results import record_answer
from thenga.domains.billing.services.settlement.webhooks import (
    Received,
    apply_callback,
    apply_callback_report,
    delete_old_contents,
    list_callbacks,
    pending_callback,
    quarantine_callback,
    receive_callback,
    reject_callback,
    replay_callback,
)

__all__ = [
    "Received",
    "apply_callback",
    "apply_callback_report",
    "confirm_transfer",
    "delete_old_contents",
    "list_callbacks",
    "pending_callback",
    "quarantine_callback",
    "receive_callback",
    "record_answer",
    "reject_callback",
    "replay_callback",
]
