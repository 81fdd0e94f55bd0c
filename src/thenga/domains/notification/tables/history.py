"""What happened to each message, never changed."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col


class HistoryEntry(TenantRow, table="notification.history_entry", kind=Kind.PRIVATE, told=False):
    """One step of one message on one channel."""

    occurred_at: Col[datetime] = col(Instant)
    kind: Col[str] = col(sa.Text)  # planned, sent, delivered, failed, not_sent, acknowledged
    notification_id: Col[UUID] = col(pg.UUID)
    request_id: Col[UUID] = col(pg.UUID)
    recipient_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    recipient_mask: Col[str | None] = col(sa.Text, nullable=True, default=None)
    topic_code: Col[str] = col(sa.Text)
    about: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    channel_kind: Col[str | None] = col(sa.Text, nullable=True, default=None)
    template_key: Col[str] = col(sa.Text)
    template_version: Col[int] = col(sa.Integer)
    language: Col[str | None] = col(sa.Text, nullable=True, default=None)
    content_hash: Col[str | None] = col(sa.Text, nullable=True, default=None)
    provider: Col[str | None] = col(sa.Text, nullable=True, default=None)
    provider_message_id: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[str] = col(sa.Text)
    reason_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
