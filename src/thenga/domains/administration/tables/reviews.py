"""Audit reviews with their findings, and governance decisions."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.administration.public.reviews import Severity
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, Row, col, status


class ReviewKind(StrEnum):
    """Occasion of a review."""

    PERIODIC = "periodic"
    TRIGGERED = "triggered"
    BREAK_GLASS = "break_glass"
    INCIDENT = "incident"


class ReviewStatus(StrEnum):
    """Status of an audit review."""

    OPEN = "open"
    IN_REVIEW = "in_review"
    CLOSED = "closed"


class FindingStatus(StrEnum):
    """Status of a finding."""

    OPEN = "open"
    CLOSED = "closed"


class DecisionCategory(StrEnum):
    """What a governance decision is about."""

    PRODUCT = "product"
    SECURITY = "security"
    PRIVACY = "privacy"
    POLICY = "policy"
    FINANCE = "finance"
    ARCHITECTURE = "architecture"
    RISK_ACCEPTANCE = "risk_acceptance"


class DecisionStatus(StrEnum):
    """Status of a governance decision."""

    RECORDED = "recorded"
    SUPERSEDED = "superseded"


class AuditReview(Row, table="administration.audit_review", kind=Kind.PLATFORM):
    """A review of what was done on the platform."""

    number: Col[str] = col(sa.Text)
    kind: Col[ReviewKind] = status(ReviewKind)
    title: Col[str] = col(sa.Text)
    scope: Col[dict[str, Any]] = col(Json)
    starts_on: Col[date] = col(sa.Date)
    due_on: Col[date] = col(sa.Date)
    reviewer_user_ids: Col[list[UUID]] = col(pg.ARRAY(pg.UUID))
    incident: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    regulator_notified_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    governance_decision_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    status: Col[ReviewStatus] = status(ReviewStatus, default=ReviewStatus.OPEN)
    conclusion: Col[str | None] = col(sa.Text, nullable=True, default=None)
    created_by: Col[UUID] = col(pg.UUID)
    reviewed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    closed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class AuditFinding(Row, table="administration.audit_finding", kind=Kind.PLATFORM):
    """What a review found, with the person who must deal with it."""

    review_id: Col[UUID] = col(pg.UUID)
    title: Col[str] = col(sa.Text)
    severity: Col[Severity] = col(sa.Text)
    description: Col[str] = col(sa.Text)
    evidence: Col[list[dict[str, Any]]] = col(Json, default=[])
    owner_user_id: Col[UUID] = col(pg.UUID)
    due_on: Col[date] = col(sa.Date)
    status: Col[FindingStatus] = status(FindingStatus, default=FindingStatus.OPEN)
    created_by: Col[UUID] = col(pg.UUID)
    verified_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    verified_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class GovernanceDecision(Row, table="administration.governance_decision", kind=Kind.PLATFORM):
    """A decision on how the platform is run. Its text never changes."""

    number: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    category: Col[DecisionCategory] = status(DecisionCategory)
    context: Col[str] = col(sa.Text)
    decision: Col[str] = col(sa.Text)
    consequences: Col[str] = col(sa.Text)
    alternatives: Col[str | None] = col(sa.Text, nullable=True, default=None)
    decided_on: Col[date] = col(sa.Date)
    decided_by: Col[list[UUID]] = col(pg.ARRAY(pg.UUID))
    relates_to: Col[list[dict[str, Any]]] = col(Json, default=[])
    supersedes: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    content_hash: Col[str] = col(sa.Text)
    created_by: Col[UUID] = col(pg.UUID)
    status: Col[DecisionStatus] = status(DecisionStatus, default=DecisionStatus.RECORDED)
    superseded_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
