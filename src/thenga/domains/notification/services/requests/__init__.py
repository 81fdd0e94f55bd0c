"""Requests: accepting, planning in batches, completing; the inbox of a person."""

from thenga.domains.notification.services.requests.accepting import (
    about_of,
    accept,
    accept_event,
    accept_once,
    check,
    check_facts,
    plan_batch,
    submit,
)
from thenga.domains.notification.services.requests.asked import Asked, FactsMismatch
from thenga.domains.notification.services.requests.clock import run_due_steps
from thenga.domains.notification.services.requests.completion import (
    Counts,
    counts_of,
    follow_delivery,
    status_at,
)
from thenga.domains.notification.services.requests.deliveries import move_delivery
from thenga.domains.notification.services.requests.inbox import (
    AcknowledgementNotNeeded,
    AcknowledgementOpen,
    Filters,
    NotRecipient,
    acknowledge,
    deliveries_of,
    dismiss,
    is_recipient,
    list_own,
    mark_read,
    open_message,
)
from thenga.domains.notification.services.requests.planning import (
    Batch,
    ask_batch,
    batch_to_plan,
    plan_people,
)
from thenga.domains.notification.services.requests.sealed_parts import facts_of, given_address

__all__ = [
    "AcknowledgementNotNeeded",
    "AcknowledgementOpen",
    "Asked",
    "Batch",
    "Counts",
    "FactsMismatch",
    "Filters",
    "NotRecipient",
    "about_of",
    "accept",
    "accept_event",
    "accept_once",
    "acknowledge",
    "ask_batch",
    "batch_to_plan",
    "check",
    "check_facts",
    "counts_of",
    "deliveries_of",
    "dismiss",
    "facts_of",
    "follow_delivery",
    "given_address",
    "is_recipient",
    "list_own",
    "mark_read",
    "move_delivery",
    "open_message",
    "plan_batch",
    "plan_people",
    "run_due_steps",
    "status_at",
    "submit",
]
