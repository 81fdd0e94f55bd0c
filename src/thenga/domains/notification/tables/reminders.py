"""Schedules, reminders before a deadline, and the deadlines that they follow."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class ScheduleStatus(StrEnum):
    """Status of a schedule. `missed`: its only occurrence was not sent in time."""

    ACTIVE = "active"
    COMPLETED = "completed"
    MISSED = "missed"
    SUSPENDED = "suspended"
    CANCELLED = "cancelled"


class Schedule(TenantRow, table="notification.schedule", kind=Kind.PRIVATE):
    """A message that is sent once or again and again, at local times."""

    name: Col[str] = col(sa.Text)
    kind: Col[str] = col(sa.Text)  # once, recurring
    starts_at: Col[str] = col(sa.Text)  # local date and time
    time_zone: Col[str] = col(sa.Text)
    rrule: Col[str | None] = col(sa.Text, nullable=True, default=None)
    exdates: Col[list[str]] = col(pg.JSONB)
    on_non_working_day: Col[str] = col(sa.Text)  # send, next, previous, skip
    misfire: Col[str] = col(sa.Text)  # fire_once, skip
    misfire_grace: Col[int] = col(sa.Integer)  # minutes
    request: Col[dict[str, Any]] = col(pg.JSONB)
    status: Col[ScheduleStatus] = status(ScheduleStatus, default=ScheduleStatus.ACTIVE)
    acts_for: Col[UUID] = col(pg.UUID)
    acts_for_kind: Col[str] = col(sa.Text)  # user, api_key
    suspended_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    next_local: Col[str | None] = col(sa.Text, nullable=True, default=None)
    last_fired_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    fired_count: Col[int] = col(sa.Integer, default=0)
    missed_count: Col[int] = col(sa.Integer, default=0)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class ReminderStatus(StrEnum):
    """Status of a reminder. `awaiting_anchor`: its deadline is not known yet."""

    AWAITING_ANCHOR = "awaiting_anchor"
    ACTIVE = "active"
    DONE = "done"
    CANCELLED = "cancelled"


class Reminder(TenantRow, table="notification.reminder", kind=Kind.PRIVATE):
    """Messages before a deadline. With an anchor they follow it when it moves."""

    source_domain: Col[str] = col(sa.Text)
    key: Col[str | None] = col(sa.Text, nullable=True, default=None)  # given by port
    topic_code: Col[str] = col(sa.Text)
    about: Col[dict[str, Any]] = col(pg.JSONB)
    audience: Col[list[dict[str, Any]]] = col(pg.JSONB)
    facts: Col[dict[str, str]] = col(pg.JSONB)
    anchor_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    due_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    time_zone: Col[str | None] = col(sa.Text, nullable=True, default=None)
    anchor_sequence: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    offsets: Col[list[dict[str, Any]]] = col(pg.JSONB)
    repeat: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    round: Col[int] = col(sa.Integer, default=0)
    status: Col[ReminderStatus] = status(ReminderStatus)
    acts_for: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    acts_for_kind: Col[str | None] = col(sa.Text, nullable=True, default=None)  # user, api_key
    cancelled_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class ReminderOccurrence(
    TenantRow, table="notification.reminder_occurrence", kind=Kind.PRIVATE, told=False
):
    """One time at which a reminder is sent, was sent or was skipped."""

    reminder_id: Col[UUID] = col(pg.UUID)
    round: Col[int] = col(sa.Integer)
    offset_index: Col[int] = col(sa.Integer)
    repeat_no: Col[int] = col(sa.Integer, default=0)
    due_at: Col[datetime] = col(Instant)
    fired_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    request_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    skipped_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)


class AnchorState(StrEnum):
    """Whether a deadline is known. `withdrawn`: it no longer applies."""

    EXPECTED = "expected"
    SET = "set"
    WITHDRAWN = "withdrawn"


class Anchor(TenantRow, table="notification.anchor", kind=Kind.PRIVATE, told=False):
    """A deadline of another domain. Only newer sequences change it."""

    reference_key: Col[str] = col(sa.Text)  # domain/type/id
    kind: Col[str] = col(sa.Text)
    reference: Col[dict[str, Any]] = col(pg.JSONB)
    state: Col[AnchorState] = col(sa.Text)
    due_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    time_zone: Col[str | None] = col(sa.Text, nullable=True, default=None)
    sequence: Col[int] = col(sa.BigInteger, default=0)
