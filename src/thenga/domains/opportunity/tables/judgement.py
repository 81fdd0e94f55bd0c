"""A company's own judgement of a tender: qualification and recommendation."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, TenantRow, col, status


class QualificationStatus(StrEnum):
    """Status of a qualification. A tender has at most one draft."""

    DRAFT = "draft"
    COMPLETED = "completed"
    SUPERSEDED = "superseded"


class Qualification(TenantRow, table="opportunity.qualification", kind=Kind.PRIVATE):
    """One revision of a company's answer to what a tender asks for."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    revision: Col[int] = col(sa.Integer)
    status: Col[QualificationStatus] = status(
        QualificationStatus, default=QualificationStatus.DRAFT
    )
    answers: Col[list[dict[str, Any]]] = col(Json)
    self_scores: Col[dict[str, Any]] = col(Json)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    verdict: Col[str | None] = col(sa.Text, nullable=True, default=None)
    criteria: Col[list[dict[str, Any]]] = col(Json)
    readiness: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    functionality: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    inputs: Col[dict[str, Any]] = col(Json)
    stale_reasons: Col[list[str]] = col(pg.ARRAY(sa.Text))
    decided_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decided_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class RecommendationStatus(StrEnum):
    """Status of a recommendation; that it expired follows from the closing."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    OVERRIDDEN = "overridden"


class Recommendation(TenantRow, table="opportunity.recommendation", kind=Kind.PRIVATE):
    """Whether to bid, by the rules of OPP-38; a person decides."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    revision: Col[int] = col(sa.Integer)
    status: Col[RecommendationStatus] = status(
        RecommendationStatus, default=RecommendationStatus.PROPOSED
    )
    verdict: Col[str] = col(sa.Text)
    preliminary: Col[bool] = col(sa.Boolean)
    reasons: Col[list[dict[str, Any]]] = col(Json)
    rules_version: Col[int] = col(sa.Integer)
    inputs: Col[dict[str, Any]] = col(Json)
    analysis: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    decision: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    decided_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decided_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    computed_at: Col[datetime] = col(Instant)
    analysis_attempts: Col[int] = col(sa.Integer, default=0)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class RecommendationRevision(
    TenantRow, table="opportunity.recommendation_revision", kind=Kind.PRIVATE, told=False
):
    """A recommendation as it stood before it was proposed again."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    recommendation_id: Col[UUID] = col(pg.UUID)
    revision: Col[int] = col(sa.Integer)
    document: Col[dict[str, Any]] = col(Json)
