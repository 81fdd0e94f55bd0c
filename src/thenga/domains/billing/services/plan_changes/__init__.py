"""Plan changes: quotes, previews, upgrades and downgrades (BIL-10, BIL-11)."""

from thenga.domains.billing.services.plan_changes.changes import (
    ChangeToday,
    PaymentOverdue,
    QuoteChanged,
    SubscriptionPaused,
    apply_at_renewal,
    apply_change,
    awaits_payment,
    expire_change,
    is_change_expired,
    move_with_period,
    request_change,
    withdraw_change,
)
from thenga.domains.billing.services.plan_changes.previews import ChangePreview, preview_change
from thenga.domains.billing.services.plan_changes.quotes import ChangeRequest, Direction, Effective

__all__ = [
    "ChangePreview",
    "ChangeRequest",
    "ChangeToday",
    "Direction",
    "Effective",
    "PaymentOverdue",
    "QuoteChanged",
    "SubscriptionPaused",
    "apply_at_renewal",
    "apply_change",
    "awaits_payment",
    "expire_change",
    "is_change_expired",
    "move_with_period",
    "preview_change",
    "request_change",
    "withdraw_change",
]
