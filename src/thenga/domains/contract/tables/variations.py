"""Variations of a contract."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class LimitState(StrEnum):
    """Total increases compared with the legal limit."""

    WITHIN = "within"
    WARNING = "warning"
    EXCEEDS = "exceeds"


class VariationStatus(StrEnum):
    """Status of a variation."""

    DRAFT = "draft"
    SUBMITTED = "submitted"
    UNDER_REVIEW = "under_review"
    APPROVED = "approved"
    EXECUTED = "executed"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class VariationReason(StrEnum):
    """Reason for a variation."""

    CLIENT_INSTRUCTION = "client_instruction"
    UNFORESEEN_CONDITIONS = "unforeseen_conditions"
    DESIGN_CHANGE = "design_change"
    REMEASUREMENT = "remeasurement"
    PRICE_ADJUSTMENT = "price_adjustment"
    DELAY = "delay"
    LAW_CHANGE = "law_change"
    ERROR = "error"
    EXTENSION = "extension"


class Variation(TenantRow, table="contract.variation", kind=Kind.PRIVATE):
    """A change of value, time or scope. It has no effect before both sides have signed."""

    workspace_id: Col[UUID] = col(pg.UUID)
    number: Col[str] = col(sa.Text)
    reason_code: Col[VariationReason] = status(VariationReason)
    limit_state: Col[LimitState | None] = status(LimitState, nullable=True)
    status: Col[VariationStatus] = status(VariationStatus, default=VariationStatus.DRAFT)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    title: Col[str] = col(sa.Text)
    kinds: Col[list[str]] = col(pg.ARRAY(sa.Text))
    value_delta_minor: Col[int] = col(sa.BigInteger, default=0)
    currency: Col[str] = col(sa.Text)
    days_delta: Col[int] = col(sa.Integer, default=0)
    scope: Col[str | None] = col(sa.Text, nullable=True, default=None)
    milestone_changes: Col[list[dict[str, Any]]] = col(pg.JSONB, default=[])
    evidence_refs: Col[list[dict[str, Any]]] = col(pg.JSONB, default=[])
    limit_approval_ref: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    author_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    content_hash: Col[str | None] = col(sa.Text, nullable=True, default=None)
    strength: Col[str | None] = col(sa.Text, nullable=True, default=None)
    value_before_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    value_after_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    ends_before: Col[date | None] = col(sa.Date, nullable=True, default=None)
    ends_after: Col[date | None] = col(sa.Date, nullable=True, default=None)
    cumulative_percent: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    executed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    plan_number: Col[int | None] = col(sa.Integer, nullable=True, default=None)
