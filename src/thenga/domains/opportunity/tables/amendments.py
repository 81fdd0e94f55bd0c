"""What changed in a tender, and what that touched in each company."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, NoticeRow, TenantRow, col, status


class Amendment(NoticeRow, table="opportunity.amendment", kind=Kind.NOTICE, told=False):
    """One set of changes under one number (OPP-44); `event_id` is the event that told of it."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    from_version: Col[int] = col(sa.Integer)
    to_version: Col[int] = col(sa.Integer)
    origin: Col[str] = col(sa.Text)
    buyer_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    changes: Col[list[dict[str, Any]]] = col(Json)
    level: Col[str] = col(sa.Text)
    material: Col[bool] = col(sa.Boolean)
    short_notice: Col[bool] = col(sa.Boolean)
    detected_at: Col[datetime] = col(Instant)
    event_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class RippleState(StrEnum):
    """Whether an effect of an amendment was applied, waits for someone, or failed."""

    DONE = "done"
    OPEN = "open"
    FAILED = "failed"


class RippleEntry(TenantRow, table="opportunity.ripple_entry", kind=Kind.PRIVATE, told=False):
    """What an amendment touched for one company."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    amendment_id: Col[UUID] = col(pg.UUID)
    amendment_number: Col[int] = col(sa.Integer)
    domain: Col[str] = col(sa.Text)
    effect: Col[str] = col(sa.Text)
    reference: Col[str] = col(sa.Text)  # `qualification/<id>`
    state: Col[RippleState] = status(RippleState)
    at: Col[datetime] = col(Instant)
    event_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
