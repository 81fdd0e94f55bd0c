"""Briefings, who attended them, and deadlines; those that a company adds stay its own (OPP-15)."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, NoticeRow, TenantRow, col, status


class BriefingStatus(StrEnum):
    """Status of a briefing. `held` shows whether its time has passed."""

    SCHEDULED = "scheduled"
    CANCELLED = "cancelled"


class Briefing(NoticeRow, table="opportunity.briefing", kind=Kind.NOTICE):
    """A meeting or site visit before the closing."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    kind: Col[str] = col(sa.Text, default="meeting")
    starts_at: Col[datetime] = col(Instant)
    ends_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    time_zone: Col[str] = col(sa.Text, default="Africa/Johannesburg")
    venue: Col[str | None] = col(sa.Text, nullable=True, default=None)
    compulsory: Col[bool] = col(sa.Boolean)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[BriefingStatus] = status(BriefingStatus, default=BriefingStatus.SCHEDULED)
    moved_from: Col[list[str]] = col(Json)
    doubts: Col[list[str]] = col(pg.ARRAY(sa.Text))


class AttendanceState(StrEnum):
    """Recorded attendance at a briefing. Without a record it is unknown."""

    REGISTERED = "registered"
    ATTENDED = "attended"
    MISSED = "missed"


class Attendance(TenantRow, table="opportunity.attendance", kind=Kind.PRIVATE):
    """A company's attendance at a briefing that began at `starts_at`.

    What was recorded for an earlier date of the same briefing stays in `history`.
    """

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    briefing_id: Col[UUID] = col(pg.UUID)
    starts_at: Col[datetime] = col(Instant)
    state: Col[AttendanceState] = status(AttendanceState)
    attended_by_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    registered_as: Col[str | None] = col(sa.Text, nullable=True, default=None)
    proof_refs: Col[list[dict[str, Any]]] = col(Json)
    recorded_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    recorded_at: Col[datetime] = col(Instant)
    history: Col[list[dict[str, Any]]] = col(Json)


class Deadline(NoticeRow, table="opportunity.deadline", kind=Kind.NOTICE):
    """A date by which something must be done; `passed` follows from the time.

    `rule` says how it follows from the closing, `briefing_id` from which briefing it comes.
    """

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    kind: Col[str] = col(sa.Text)
    label: Col[str] = col(sa.Text)
    due_at: Col[datetime] = col(Instant)
    rule: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    precision: Col[str] = col(sa.Text, default="minute")
    time_zone: Col[str] = col(sa.Text, default="Africa/Johannesburg")
    withdrawn: Col[bool] = col(sa.Boolean, default=False)
    moved_from: Col[list[str]] = col(Json)
    basis: Col[str] = col(sa.Text)
    briefing_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
