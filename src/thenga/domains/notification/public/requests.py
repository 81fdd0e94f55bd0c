"""Asking for a message, and what became of the request as a whole."""

import re
from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.values.references import Reference

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MOST = 200

_VALUE = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

Lane = Literal["security", "urgent", "normal", "bulk"]


def as_fact(words: str) -> str:
    """A person's words as a fact of type `text`: on one line and not too long (SEC-67)."""
    return _CONTROL.sub(" ", words)[:_MOST]


class Recipient(BaseModel):
    """A person to tell. With `address`, only that address is used."""

    model_config = ConfigDict(frozen=True)

    user_id: UUID | None = None
    address: str | None = None


class Target(BaseModel):
    """A group of people to tell. It is resolved to people when the request is planned."""

    model_config = _VALUE

    kind: Literal["users", "role", "permission", "members"]
    user_ids: list[UUID] = []
    role_code: str | None = None
    permission: str | None = None


class Requests(Port, name="notification.requests", timeout=2.0):
    """Accepts requests for messages. If nobody answers, ask again with the same key."""

    @idempotent
    @abstractmethod
    async def accept(
        self,
        *,
        topic_code: str,
        recipients: list[Recipient],
        facts: dict[str, str],
        sealed_facts: dict[str, str],
        key: str,
        organization_id: UUID | None = None,
        about: Reference | None = None,
        audience: Sequence[Target] = (),
        send_at: datetime | None = None,
        expires_at: datetime | None = None,
        deadline_at: datetime | None = None,
    ) -> str:
        """The ID of the request; the same key gives the same request.

        Without `organization_id` the platform itself sends. Sealed facts stay sealed until the
        message is sent and never appear in history.
        """


class RejectedFact(BaseModel):
    """One reason why a request was rejected."""

    model_config = _VALUE

    pointer: str
    code: str


class RequestCounts(BaseModel):
    """How many people a request addressed, and how it ended for them."""

    model_config = _VALUE

    persons: int
    reached: int
    not_reached: int
    not_sent: int


class NotificationRequestAccepted(
    Event, type="notification.NotificationRequestAccepted.v1", subject="request_id"
):
    """A request was accepted. Its recipients are not resolved yet."""

    organization_id: UUID
    request_id: UUID
    topic_code: str
    about: Reference | None
    lane: Lane


class NotificationRequestRejected(
    Event, type="notification.NotificationRequestRejected.v1", subject="request_id"
):
    """An event asked for a message with facts that do not fit the template."""

    organization_id: UUID
    request_id: UUID
    topic_code: str
    causation_event_id: UUID | None
    errors: list[RejectedFact]


class NotificationRequestCompleted(
    Event, type="notification.NotificationRequestCompleted.v1", subject="request_id"
):
    """Nothing of a request is left to send."""

    organization_id: UUID
    request_id: UUID
    topic_code: str
    about: Reference | None
    status: Literal["completed", "partially_completed", "failed", "cancelled", "expired"]
    counts: RequestCounts


EVENTS = (
    NotificationRequestAccepted,
    NotificationRequestRejected,
    NotificationRequestCompleted,
)
