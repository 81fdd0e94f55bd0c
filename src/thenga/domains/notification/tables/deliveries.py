"""Deliveries of a message, the attempts of each, and what providers report about them."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, Sealed, TenantRow, col, status


class DeliveryStatus(StrEnum):
    """Status of a delivery on one channel."""

    HELD = "held"
    QUEUED = "queued"
    SENDING = "sending"
    SENT = "sent"
    UNDELIVERED = "undelivered"
    DELIVERED = "delivered"
    BOUNCED = "bounced"
    NOT_SENT = "not_sent"


class Certainty(StrEnum):
    """Whether the provider is known to have accepted the message."""

    KNOWN = "known"
    UNKNOWN = "unknown"


class Delivery(TenantRow, table="notification.delivery", kind=Kind.PRIVATE):
    """One message on one channel. The address itself is never stored."""

    notification_id: Col[UUID] = col(pg.UUID)
    request_id: Col[UUID] = col(pg.UUID)
    channel_kind: Col[str] = col(sa.Text)
    channel_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    certainty: Col[Certainty] = status(Certainty, default=Certainty.KNOWN)
    status: Col[DeliveryStatus] = status(DeliveryStatus)
    reason_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    reason_detail: Col[str | None] = col(sa.Text, nullable=True, default=None)
    priority: Col[int] = col(sa.Integer, default=0)  # higher first; the security lane has 10
    held_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    expires_at: Col[datetime] = col(Instant)
    address_mask: Col[str | None] = col(sa.Text, nullable=True, default=None)
    address_fingerprint: Col[str | None] = col(sa.Text, nullable=True, default=None)
    fence: Col[int] = col(sa.Integer, default=0)  # raised with each claim
    attempts: Col[int] = col(sa.Integer, default=0)
    decisions: Col[list[dict[str, Any]]] = col(pg.JSONB)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class AttemptOutcome(StrEnum):
    """Provider's response to an attempt. `unknown`: it may have accepted the message."""

    ACCEPTED = "accepted"
    REFUSED_TRANSIENT = "refused_transient"
    REFUSED_FINAL = "refused_final"
    UNKNOWN = "unknown"


class Attempt(TenantRow, table="notification.attempt", kind=Kind.PRIVATE):
    """One call to a provider for one delivery."""

    delivery_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    fence: Col[int] = col(sa.Integer)
    channel_id: Col[UUID] = col(pg.UUID)
    provider: Col[str] = col(sa.Text)
    address_fingerprint: Col[str | None] = col(sa.Text, nullable=True, default=None)
    provider_message_id: Col[str | None] = col(sa.Text, nullable=True, default=None)
    started_at: Col[datetime] = col(Instant)
    finished_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    outcome: Col[AttemptOutcome | None] = col(sa.Text, nullable=True, default=None)
    provider_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    provider_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    units: Col[int] = col(sa.Integer, default=0)
    reports: Col[list[dict[str, Any]]] = col(pg.JSONB)


class CallbackState(StrEnum):
    """Result of a provider's report."""

    STORED = "stored"
    APPLIED = "applied"
    UNMATCHED = "unmatched"
    ORPHANED = "orphaned"
    MISMATCHED = "mismatched"


class ProviderCallback(Row, table="notification.provider_callback", kind=Kind.INTAKE, told=False):
    """A verified report of a provider with sealed bytes, and its result once processed."""

    channel_id: Col[UUID] = col(pg.UUID)
    dedup_key: Col[str] = col(sa.Text)
    received_at: Col[datetime] = col(Instant)
    provider_message_id: Col[str | None] = col(sa.Text, nullable=True, default=None)
    sealed_content: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, sealed=Sealed("provider-callback", ("id",))
    )
    state: Col[CallbackState] = status(CallbackState, default=CallbackState.STORED)
    try_again_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Suppression(Row, table="notification.suppression", kind=Kind.CATALOGUE, told=False):
    """An address that must not be used: its fingerprint only. Applies to every organization."""

    channel_kind: Col[str] = col(sa.Text)
    address_fingerprint: Col[str] = col(sa.Text)
    reason: Col[str] = col(sa.Text)  # bounce
    until: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Channel(Row, table="notification.channel", kind=Kind.CATALOGUE):
    """A way to reach people: one channel kind with one provider (content/channels.json)."""

    code: Col[str] = col(sa.Text)
    name: Col[str] = col(sa.Text)
    channel_kind: Col[str] = col(sa.Text)
    provider: Col[str] = col(sa.Text)  # internal, smtp, twilio
    status_from: Col[str] = col(sa.Text)  # none, mailgun, twilio
    priority: Col[int] = col(sa.Integer, default=0)
    status: Col[str] = col(sa.Text, default="active")
