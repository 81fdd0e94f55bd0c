"""What became of a message on its way to one person."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from thenga.kernel.declare.event import Event
from thenga.kernel.values.references import Reference

ChannelKind = Literal["in_app", "email", "sms"]


class NotificationSent(Event, type="notification.NotificationSent.v1", subject="delivery_id"):
    """A provider accepted a message, or may have: `certainty` is then `unknown`."""

    organization_id: UUID
    delivery_id: UUID
    notification_id: UUID
    request_id: UUID
    channel_kind: ChannelKind
    topic_code: str
    about: Reference | None
    at: datetime
    certainty: Literal["known", "unknown"]


class NotificationDelivered(
    Event, type="notification.NotificationDelivered.v1", subject="delivery_id"
):
    """A provider reports that a message arrived; `assurance` says how the report was checked."""

    organization_id: UUID
    delivery_id: UUID
    notification_id: UUID
    request_id: UUID
    channel_kind: ChannelKind
    topic_code: str
    about: Reference | None
    at: datetime
    assurance: Literal["internal", "signed", "shared_secret", "polled"]


class NotificationFailed(Event, type="notification.NotificationFailed.v1", subject="delivery_id"):
    """A message did not reach a person by one channel, and why."""

    organization_id: UUID
    delivery_id: UUID
    notification_id: UUID
    request_id: UUID
    channel_kind: ChannelKind
    topic_code: str
    about: Reference | None
    at: datetime
    reason_code: str
    attempts: int
    fallback_channel: ChannelKind | None


class NotificationAcknowledged(
    Event, type="notification.NotificationAcknowledged.v1", subject="notification_id"
):
    """The recipient confirmed a message that asks for it."""

    organization_id: UUID
    notification_id: UUID
    request_id: UUID
    about: Reference | None
    acknowledged_by: UUID
    via: Literal["app", "reply", "delegate"]
    at: datetime


EVENTS = (
    NotificationSent,
    NotificationDelivered,
    NotificationFailed,
    NotificationAcknowledged,
)
