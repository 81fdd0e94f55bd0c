"""Escalations: who was told about an open matter, and who is next."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class EscalationStatus(StrEnum):
    """Status of an escalation. `exhausted`: everyone was notified and no one resolved it."""

    OPEN = "open"
    EXHAUSTED = "exhausted"
    RESOLVED = "resolved"


class Escalation(TenantRow, table="notification.escalation", kind=Kind.PRIVATE):
    """An open matter and its policy as it was when the matter was opened."""

    policy_key: Col[str] = col(sa.Text)
    policy_snapshot: Col[dict[str, Any]] = col(pg.JSONB)
    about: Col[dict[str, Any]] = col(pg.JSONB)
    about_key: Col[str] = col(sa.Text)  # domain/type/id
    facts: Col[dict[str, str]] = col(pg.JSONB)
    status: Col[EscalationStatus] = status(EscalationStatus, default=EscalationStatus.OPEN)
    level: Col[int] = col(sa.Integer, default=0)  # steps taken
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    request_ids: Col[list[str]] = col(pg.ARRAY(sa.Text))  # of the steps taken
    log: Col[list[dict[str, Any]]] = col(pg.JSONB)
    resolution_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    resolution_note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    resolved_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    resolved_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class EscalationOpening(
    TenantRow, table="notification.escalation_opening", kind=Kind.PRIVATE, told=False
):
    """That another domain opened an escalation under a key of its own."""

    key: Col[str] = col(sa.Text)
    escalation_id: Col[UUID] = col(pg.UUID)
