"""Requests for messages, and the messages that they became."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Sealed, TenantRow, col, status


class RequestStatus(StrEnum):
    """Status of a request. `rejected`: the facts of its event do not match the template."""

    SCHEDULED = "scheduled"
    ACCEPTED = "accepted"
    RESOLVING = "resolving"
    DISPATCHING = "dispatching"
    COMPLETED = "completed"
    PARTIALLY_COMPLETED = "partially_completed"
    FAILED = "failed"
    EXPIRED = "expired"
    REJECTED = "rejected"


class Request(TenantRow, table="notification.request", kind=Kind.PRIVATE):
    """A request to tell people something. Those of the platform belong to the operator."""

    topic_code: Col[str] = col(sa.Text)
    category: Col[str] = col(sa.Text)
    lane: Col[str] = col(sa.Text)
    source_domain: Col[str] = col(sa.Text)
    dedupe_key: Col[str | None] = col(sa.Text, nullable=True, default=None)
    about: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    audience: Col[list[dict[str, Any]]] = col(pg.JSONB)
    # Persons named by port: user ids and keys of given addresses; the addresses are sealed.
    recipients: Col[list[dict[str, Any]]] = col(pg.JSONB)
    sealed_addresses: Col[bytes | None] = col(
        sa.LargeBinary,
        nullable=True,
        default=None,
        sealed=Sealed("notification-addresses", ("id",)),
    )
    facts: Col[dict[str, str]] = col(pg.JSONB)
    sealed_facts: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, sealed=Sealed("notification-facts", ("id",))
    )
    exclude_actor: Col[bool] = col(sa.Boolean, default=True)
    requested_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    channel_kinds: Col[list[str] | None] = col(pg.ARRAY(sa.Text), nullable=True, default=None)
    acknowledgement: Col[str] = col(sa.Text, default="none")
    escalation_policy_key: Col[str | None] = col(sa.Text, nullable=True, default=None)
    send_at: Col[datetime] = col(Instant)
    expires_at: Col[datetime] = col(Instant)
    deadline_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status: Col[RequestStatus] = status(RequestStatus)
    causation_event_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    errors: Col[list[dict[str, str]]] = col(pg.JSONB)
    planned_after: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    completed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class MessageOutcome(StrEnum):
    """Outcome of a message, derived from its deliveries."""

    PENDING = "pending"
    REACHED = "reached"
    NOT_REACHED = "not_reached"
    NOT_SENT = "not_sent"


class Notification(TenantRow, table="notification.notification", kind=Kind.PRIVATE):
    """One message to one person. `title` and `body` are set where it is shown in the app."""

    request_id: Col[UUID] = col(pg.UUID)
    recipient_key: Col[str] = col(sa.Text)  # the user's id, or the fingerprint of an address
    user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    recipient_mask: Col[str | None] = col(sa.Text, nullable=True, default=None)
    topic_code: Col[str] = col(sa.Text)
    category: Col[str] = col(sa.Text)
    about: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    title: Col[str | None] = col(sa.Text, nullable=True, default=None)
    body: Col[str | None] = col(sa.Text, nullable=True, default=None)
    language: Col[str | None] = col(sa.Text, nullable=True, default=None)
    template_key: Col[str] = col(sa.Text)
    template_version: Col[int] = col(sa.Integer)
    content_hash: Col[str | None] = col(sa.Text, nullable=True, default=None)
    expires_at: Col[datetime] = col(Instant)
    deadline_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    read_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    dismissed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    acknowledgement: Col[str] = col(sa.Text, default="none")  # none, requested, required
    acknowledged_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    acknowledgement_note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    outcome: Col[MessageOutcome] = status(MessageOutcome, default=MessageOutcome.PENDING)
