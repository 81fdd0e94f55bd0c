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
from thenga.domains.notification.tables.history import HistoryEntry
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
    "Attempt",
    "AttemptOutcome",
    "CallbackState",
    "Certainty",
    "Channel",
    "Delivery",
    "DeliveryStatus",
    "HistoryEntry",
    "MessageOutcome",
    "Notification",
    "Preference",
    "ProviderCallback",
    "Request",
    "RequestStatus",
    "Suppression",
    "Template",
    "TemplateVersion",
    "Tenant",
    "VersionStatus",
]
