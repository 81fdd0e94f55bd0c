"""Notification's tables, by area."""

from thenga.domains.notification.tables.deliveries import (
    Attempt,
    AttemptOutcome,
    CallbackState,
    Certainty,
    Channel,
    Delivery,
    DeliveryStatus,
    ProviderCallback,
    Suppression,
)
from thenga.domains.notification.tables.escalations import (
    Escalation,
    EscalationOpening,
    EscalationStatus,
)
from thenga.domains.notification.tables.history import HistoryEntry
from thenga.domains.notification.tables.reminders import (
    Anchor,
    AnchorState,
    Reminder,
    ReminderOccurrence,
    ReminderStatus,
    Schedule,
    ScheduleStatus,
)
from thenga.domains.notification.tables.requests import (
    MessageOutcome,
    Notification,
    Request,
    RequestStatus,
)
from thenga.domains.notification.tables.settings import Preference, Tenant
from thenga.domains.notification.tables.templates import (
    Template,
    TemplateVersion,
    VersionStatus,
)

__all__ = [
    "Anchor",
    "AnchorState",
    "Attempt",
    "AttemptOutcome",
    "CallbackState",
    "Certainty",
    "Channel",
    "Delivery",
    "DeliveryStatus",
    "Escalation",
    "EscalationOpening",
    "EscalationStatus",
    "HistoryEntry",
    "MessageOutcome",
    "Notification",
    "Preference",
    "ProviderCallback",
    "Reminder",
    "ReminderOccurrence",
    "ReminderStatus",
    "Request",
    "RequestStatus",
    "Schedule",
    "ScheduleStatus",
    "Suppression",
    "Template",
    "TemplateVersion",
    "Tenant",
    "VersionStatus",
]
