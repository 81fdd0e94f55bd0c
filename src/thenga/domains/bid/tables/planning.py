"""Plans and tasks."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, TenantRow, col, status


class PlanStatus(StrEnum):
    """Status of a plan."""

    DRAFT = "draft"
    BASELINED = "baselined"
    SUPERSEDED = "superseded"


class Plan(TenantRow, table="bid.plan", kind=Kind.PRIVATE):
    """A revision of the plan: milestones by key, counted backwards from the closing (BID-7)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    revision: Col[int] = col(sa.Integer)
    template: Col[str] = col(sa.Text, default="standard")
    due_time: Col[str] = col(sa.Text, default="16:00")
    milestones: Col[dict[str, Any]] = col(Json)
    compression: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    closing_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status: Col[PlanStatus] = status(PlanStatus, default=PlanStatus.DRAFT)
    baselined_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    baselined_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class TaskStatus(StrEnum):
    """Status of a task."""

    TODO = "todo"
    IN_PROGRESS = "in_progress"
    IN_REVIEW = "in_review"
    DONE = "done"
    CANCELLED = "cancelled"


class Task(TenantRow, table="bid.task", kind=Kind.PRIVATE):
    """Something to be done for a bid; `overdue_told_for` is the due time that was told (BID-9)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    title: Col[str] = col(sa.Text)
    description: Col[str | None] = col(sa.Text, nullable=True, default=None)
    kind: Col[str] = col(sa.Text, default="general")
    owner_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    reviewer_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    milestone_key: Col[str | None] = col(sa.Text, nullable=True, default=None)
    due_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    depends_on: Col[list[str]] = col(Json)
    about: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    checklist: Col[dict[str, Any]] = col(Json)
    priority: Col[str] = col(sa.Text, default="normal")
    blocked_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    blocked_since: Col[datetime | None] = col(Instant, nullable=True, default=None)
    blocked_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    overdue_told_for: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status: Col[TaskStatus] = status(TaskStatus, default=TaskStatus.TODO)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
