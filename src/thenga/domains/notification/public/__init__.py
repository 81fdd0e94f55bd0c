"""What other domains may know of Notification: its events, its ports and their values."""

from thenga.domains.notification.public import (
    deliveries,
    escalations,
    reminders,
    requests,
    settings,
)
from thenga.domains.notification.public.deliveries import (
    NotificationAcknowledged,
    NotificationDelivered,
    NotificationFailed,
    NotificationSent,
)
from thenga.domains.notification.public.escalations import (
    EscalationRaised,
    EscalationRef,
    EscalationResolved,
    Escalations,
)
from thenga.domains.notification.public.reminders import Offset, ReminderReanchored, Reminders
from thenga.domains.notification.public.requests import (
    NotificationRequestAccepted,
    NotificationRequestCompleted,
    NotificationRequestRejected,
    Recipient,
    RejectedFact,
    RequestCounts,
    Requests,
    Target,
    as_fact,
)
from thenga.domains.notification.public.settings import PolicyAcknowledged

EVENTS = (
    *requests.EVENTS,
    *deliveries.EVENTS,
    *reminders.EVENTS,
    *escalations.EVENTS,
    *settings.EVENTS,
)

__all__ = [
    "EVENTS",
    "EscalationRaised",
    "EscalationRef",
    "EscalationResolved",
    "Escalations",
    "NotificationAcknowledged",
    "NotificationDelivered",
    "NotificationFailed",
    "NotificationRequestAccepted",
    "NotificationRequestCompleted",
    "NotificationRequestRejected",
    "NotificationSent",
    "Offset",
    "PolicyAcknowledged",
    "Recipient",
    "RejectedFact",
    "ReminderReanchored",
    "Reminders",
    "RequestCounts",
    "Requests",
    "Target",
    "as_fact",
]
