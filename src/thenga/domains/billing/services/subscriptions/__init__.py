"""Subscriptions: purchase, renewal, pause and cancellation."""

from thenga.domains.billing.services.subscriptions.cancellation_refunds import refund_cancellation
from thenga.domains.billing.services.subscriptions.cancellations import (
    CancellationRequest,
    DisputeOpen,
    cancel_subscription,
    list_cancellations,
    undo_cancellation,
)
from thenga.domains.billing.services.subscriptions.clock import lock_subscription, run_due_steps
from thenga.domains.billing.services.subscriptions.letters import compose_letter
from thenga.domains.billing.services.subscriptions.pause_rules import PauseLimit
from thenga.domains.billing.services.subscriptions.pauses import (
    pause_subscription,
    resume_subscription,
)
from thenga.domains.billing.services.subscriptions.purchase import (
    CurrentSubscription,
    Purchase,
    as_of_now,
    as_renewed,
    buy_plan,
    list_subscriptions,
)
from thenga.domains.billing.services.subscriptions.upcoming_invoice import (
    NextInvoice,
    RenewalForecast,
    RenewalState,
    forecast,
    next_invoice,
    renews,
)

__all__ = [
    "CancellationRequest",
    "CurrentSubscription",
    "DisputeOpen",
    "NextInvoice",
    "PauseLimit",
    "Purchase",
    "RenewalForecast",
    "RenewalState",
    "as_of_now",
    "as_renewed",
    "buy_plan",
    "cancel_subscription",
    "compose_letter",
    "forecast",
    "list_cancellations",
    "list_subscriptions",
    "lock_subscription",
    "next_invoice",
    "pause_subscription",
    "refund_cancellation",
    "renews",
    "resume_subscription",
    "run_due_steps",
    "undo_cancellation",
]
