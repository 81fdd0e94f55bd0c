"""Packages and matters with suppliers, risks, the closeout and lessons."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class CoordinationStatus(StrEnum):
    """Status of a package or matter."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    IN_PROGRESS = "in_progress"
    RESOLVED = "resolved"
    CLOSED = "closed"
    CANCELLED = "cancelled"


class Coordination(TenantRow, table="contract.coordination", kind=Kind.PRIVATE):
    """A package that a supplier takes over, or a matter between us and a supplier."""

    workspace_id: Col[UUID] = col(pg.UUID)
    kind: Col[str] = col(sa.Text)  # package, matter
    supplier_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    supplier_name: Col[str | None] = col(sa.Text, nullable=True, default=None)
    title: Col[str] = col(sa.Text)
    text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    due_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    currency: Col[str] = col(sa.Text)
    value_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    final_cost_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    pay_days: Col[int] = col(sa.Integer)
    package_milestones: Col[list[dict[str, Any]]] = col(pg.JSONB)
    quote_ref: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    override_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    trust: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    status: Col[CoordinationStatus] = status(CoordinationStatus, default=CoordinationStatus.OPEN)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class RiskBand(StrEnum):
    """Risk band of a score."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class RiskResponse(StrEnum):
    """Treatment of a risk."""

    REDUCE = "reduce"
    AVOID = "avoid"
    TRANSFER = "transfer"
    ACCEPT = "accept"


class RiskStatus(StrEnum):
    """Status of a risk of a contract."""

    OPEN = "open"
    MITIGATING = "mitigating"
    ACCEPTED = "accepted"
    MATERIALISED = "materialised"
    CLOSED = "closed"


class Risk(TenantRow, table="contract.risk", kind=Kind.PRIVATE):
    """A risk of one contract (CON-38)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    title: Col[str] = col(sa.Text)
    category: Col[str] = col(sa.Text)
    likelihood: Col[int] = col(sa.Integer)
    impact: Col[int] = col(sa.Integer)
    score: Col[int] = col(sa.Integer)
    band: Col[RiskBand] = status(RiskBand)
    target_likelihood: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    target_impact: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    currency: Col[str] = col(sa.Text)
    impact_amount_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    owner_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    response: Col[RiskResponse] = status(RiskResponse)
    actions: Col[str | None] = col(sa.Text, nullable=True, default=None)
    due_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    milestone_ids: Col[list[UUID]] = col(pg.ARRAY(pg.UUID))
    raised_by_rule: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[RiskStatus] = status(RiskStatus, default=RiskStatus.OPEN)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class CloseoutStatus(StrEnum):
    """Status of a closeout."""

    CHECKLIST = "checklist"
    PENDING_ACCEPTANCE = "pending_acceptance"
    COMPLETED = "completed"


class Closeout(TenantRow, table="contract.closeout", kind=Kind.PRIVATE):
    """The end of a contract; its identifier is not the workspace's, there is one for each."""

    workspace_id: Col[UUID] = col(pg.UUID)
    items: Col[list[dict[str, Any]]] = col(pg.JSONB)  # those set not applicable, with a reason
    adjustments: Col[list[dict[str, Any]]] = col(pg.JSONB)
    author_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    status: Col[CloseoutStatus] = status(CloseoutStatus, default=CloseoutStatus.CHECKLIST)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    confirmation_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    final_account: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    completed_on: Col[date | None] = col(sa.Date, nullable=True, default=None)


class LessonVisibility(StrEnum):
    """Audience of a lesson."""

    WORKSPACE = "workspace"
    ORGANIZATION = "organization"


class LessonStatus(StrEnum):
    """Status of a lesson."""

    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


class Lesson(TenantRow, table="contract.lesson", kind=Kind.PRIVATE):
    """A lesson from a contract."""

    workspace_id: Col[UUID] = col(pg.UUID)
    title: Col[str] = col(sa.Text)
    text: Col[str] = col(sa.Text)
    category: Col[str | None] = col(sa.Text, nullable=True, default=None)
    tags: Col[list[str]] = col(pg.ARRAY(sa.Text))
    recommendation: Col[str | None] = col(sa.Text, nullable=True, default=None)
    visibility: Col[LessonVisibility] = status(LessonVisibility)
    author_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    status: Col[LessonStatus] = status(LessonStatus, default=LessonStatus.DRAFT)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
