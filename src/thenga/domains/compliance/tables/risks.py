"""Risks, and what machines suggest."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class RiskStatus(StrEnum):
    """Status of a risk."""

    OPEN = "open"
    MITIGATING = "mitigating"
    ACCEPTED = "accepted"
    MATERIALISED = "materialised"
    CLOSED = "closed"


class Risk(TenantRow, table="compliance.risk", kind=Kind.PRIVATE):
    """A risk that a rule found; once for each subject while it is open (CMP-34)."""

    rule_code: Col[str] = col(sa.Text)
    subject: Col[str] = col(sa.Text)
    raised_by: Col[str] = col(sa.Text, default="rule")
    title: Col[str] = col(sa.Text)
    category: Col[str] = col(sa.Text)
    likelihood: Col[int] = col(sa.Integer)
    impact: Col[int] = col(sa.Integer)
    score: Col[int] = col(sa.Integer)
    level: Col[str] = col(sa.Text)
    treatment: Col[str | None] = col(sa.Text, nullable=True, default=None)
    actions: Col[list[dict[str, Any]]] = col(pg.JSONB)
    residual_likelihood: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    residual_impact: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    owner_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    requirement_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    document_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    tender_opportunity_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    status: Col[RiskStatus] = status(RiskStatus, default=RiskStatus.OPEN)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    accepted_until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    accepted_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class SuggestionStatus(StrEnum):
    """Status of a suggestion."""

    PENDING = "pending"
    CHANGES_REQUESTED = "changes_requested"
    ACCEPTED = "accepted"
    EDITED_AND_ACCEPTED = "edited_and_accepted"
    REJECTED = "rejected"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


class AiSuggestion(TenantRow, table="compliance.ai_suggestion", kind=Kind.PRIVATE):
    """What a machine read out of a paper. Nothing but a person's decision reads it (CMP-36)."""

    key: Col[str] = col(sa.Text)
    kind: Col[str] = col(sa.Text)
    target_type: Col[str] = col(sa.Text)
    target_id: Col[UUID] = col(pg.UUID)
    target_field: Col[str | None] = col(sa.Text, nullable=True, default=None)
    base_version: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    proposed: Col[dict[str, Any]] = col(pg.JSONB, secret=True)
    proposed_hash: Col[str] = col(sa.Text)
    confidence: Col[Decimal] = col(sa.Numeric)
    sources: Col[list[dict[str, Any]]] = col(pg.JSONB, secret=True)
    produced_by: Col[dict[str, Any]] = col(pg.JSONB)
    guardrail_outcome: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[SuggestionStatus] = status(SuggestionStatus, default=SuggestionStatus.PENDING)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decided_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decided_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    reason_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    decided_value: Col[dict[str, Any] | None] = col(
        pg.JSONB, nullable=True, default=None, secret=True
    )
    expires_at: Col[datetime] = col(Instant)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
