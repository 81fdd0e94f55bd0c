"""Plans, milestones, deliverables and performance."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class PlanStatus(StrEnum):
    """Status of a revision of the plan."""

    DRAFT = "draft"
    BASELINED = "baselined"
    SUPERSEDED = "superseded"


class PlanRevision(TenantRow, table="contract.plan_revision", kind=Kind.PRIVATE):
    """One revision of the delivery plan, whole; `milestones` is what it says of each."""

    workspace_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    status: Col[PlanStatus] = status(PlanStatus, default=PlanStatus.DRAFT)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    variation_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    milestones: Col[list[dict[str, Any]]] = col(pg.JSONB)
    content_hash: Col[str] = col(sa.Text)
    finish_on: Col[date] = col(sa.Date)
    warnings: Col[list[str]] = col(pg.ARRAY(sa.Text))


class DayCount(StrEnum):
    """How the days of a milestone are counted."""

    WORKING = "working"
    CALENDAR = "calendar"


class Technique(StrEnum):
    """How the progress of a milestone is earned."""

    ZERO_HUNDRED = "zero_hundred"
    FIFTY_FIFTY = "fifty_fifty"
    PERCENT_COMPLETE = "percent_complete"


class MilestoneStatus(StrEnum):
    """Status of a milestone."""

    SCHEDULED = "scheduled"
    IN_PROGRESS = "in_progress"
    SUBMITTED = "submitted"
    MET = "met"
    PARTIALLY_MET = "partially_met"
    NOT_MET = "not_met"
    WAIVED = "waived"
    REMOVED = "removed"


class Milestone(TenantRow, table="contract.milestone", kind=Kind.PRIVATE):
    """One milestone; its identifier stays over revisions of the plan.

    `accepted_percent` is the part that can be invoiced: 100 when met, the accepted weight when
    partially met. `told_plan` and `told_reasons` say what MilestoneAtRisk has told.
    """

    workspace_id: Col[UUID] = col(pg.UUID)
    key: Col[str] = col(sa.Text)
    position: Col[int] = col(sa.Integer)
    title: Col[str] = col(sa.Text)
    kind: Col[str] = col(sa.Text)
    value_percent: Col[Decimal] = col(sa.Numeric)
    start_not_before: Col[date | None] = col(sa.Date, nullable=True, default=None)
    duration_days: Col[int] = col(sa.Integer)
    calendar: Col[DayCount] = status(DayCount)
    due_on: Col[date] = col(sa.Date)
    technique: Col[Technique] = status(Technique)
    depends_on: Col[list[dict[str, Any]]] = col(pg.JSONB)
    practical_completion: Col[bool] = col(sa.Boolean, default=False)
    currency: Col[str] = col(sa.Text)
    amount_minor: Col[int] = col(sa.BigInteger)
    billed_minor: Col[int] = col(sa.BigInteger, default=0)
    accepted_percent: Col[Decimal] = col(sa.Numeric, default=Decimal(0))
    percent_complete: Col[Decimal] = col(sa.Numeric, default=Decimal(0))
    forecast_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    started_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    evidence_refs: Col[list[dict[str, Any]]] = col(pg.JSONB)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[MilestoneStatus] = status(MilestoneStatus, default=MilestoneStatus.SCHEDULED)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    met_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    missing: Col[list[str]] = col(pg.ARRAY(sa.Text))
    confirmation_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    plan_number: Col[int] = col(sa.Integer)
    told_plan: Col[int] = col(sa.Integer, default=0)
    told_reasons: Col[list[str]] = col(pg.ARRAY(sa.Text))
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class DeliverableStatus(StrEnum):
    """Status of a deliverable."""

    PLANNED = "planned"
    IN_PROGRESS = "in_progress"
    DELIVERED = "delivered"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REMOVED = "removed"


class Deliverable(TenantRow, table="contract.deliverable", kind=Kind.PRIVATE):
    """Something that a milestone needs; the buyer accepts or rejects it."""

    workspace_id: Col[UUID] = col(pg.UUID)
    milestone_id: Col[UUID] = col(pg.UUID)
    key: Col[str] = col(sa.Text)
    position: Col[int] = col(sa.Integer)
    title: Col[str] = col(sa.Text)
    acceptance_criteria: Col[str | None] = col(sa.Text, nullable=True, default=None)
    due_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    weight: Col[Decimal] = col(sa.Numeric, default=Decimal(1))
    required: Col[bool] = col(sa.Boolean, default=True)
    delivered_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    quantity: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    evidence_refs: Col[list[dict[str, Any]]] = col(pg.JSONB)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[DeliverableStatus] = status(DeliverableStatus, default=DeliverableStatus.PLANNED)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    rejections: Col[int] = col(sa.Integer, default=0)
    accepted_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    confirmation_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class PerformanceBasis(StrEnum):
    """Basis of a performance record."""

    MEASURED = "measured"
    MIXED = "mixed"  # also on what people judged


class PerformanceSubject(StrEnum):
    """Subject of the measurement."""

    OWN = "own"
    PACKAGE = "package"


class PerformanceMetric(TenantRow, table="contract.performance_metric", kind=Kind.PRIVATE):
    """Performance in a period; never changed, corrected by a new one (CON-37)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    subject: Col[PerformanceSubject] = status(PerformanceSubject)
    coordination_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    supplier_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    period_from: Col[date] = col(sa.Date)
    period_to: Col[date] = col(sa.Date)
    judged: Col[list[dict[str, Any]]] = col(pg.JSONB)
    corrects: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    on_time: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    quality: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    value: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    counts: Col[dict[str, Any]] = col(pg.JSONB)
    basis: Col[PerformanceBasis] = status(PerformanceBasis)
    strength: Col[str] = col(sa.Text)
    recorded_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
