"""What each company offers, and how well tenders fit it."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, TenantRow, col, status


class MatchProfile(TenantRow, table="opportunity.match_profile", kind=Kind.PRIVATE, told=False):
    """What matching knows of a company, copied with references to where it stands."""

    features: Col[dict[str, Any]] = col(Json)
    preferences: Col[dict[str, Any]] = col(Json)
    preferences_version: Col[int] = col(sa.Integer, default=0)
    blockers: Col[list[str]] = col(Json)
    matching_on: Col[bool] = col(sa.Boolean, default=True)
    fact_refs: Col[list[dict[str, Any]]] = col(Json)
    revision: Col[int] = col(sa.Integer, default=0)
    as_of: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Match(TenantRow, table="opportunity.match", kind=Kind.PRIVATE, told=False):
    """How well one tender fits one company; whether it is stale follows from its inputs."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    score_tenths: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    band: Col[str] = col(sa.Text)
    coverage_hundredths: Col[int] = col(sa.Integer)
    eligible: Col[bool] = col(sa.Boolean)
    factors: Col[list[dict[str, Any]]] = col(Json)
    gates: Col[list[dict[str, Any]]] = col(Json)
    failed_gates: Col[list[str]] = col(pg.ARRAY(sa.Text))
    weights_version: Col[int] = col(sa.Integer)
    opportunity_version: Col[int] = col(sa.BigInteger)
    match_revision: Col[int] = col(sa.Integer)
    profile_revision: Col[int] = col(sa.Integer)
    computed_at: Col[datetime] = col(Instant)
    alerted_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    below_since: Col[datetime | None] = col(Instant, nullable=True, default=None)


class MatchAlert(TenantRow, table="opportunity.match_alert", kind=Kind.PRIVATE, told=False):
    """That a company was told of a tender for a reason, once a material revision (OPP-35)."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    reason: Col[str] = col(sa.Text)
    material_revision: Col[int] = col(sa.Integer)


class MatchRunStatus(StrEnum):
    """Status of a match run."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class MatchRun(TenantRow, table="opportunity.match_run", kind=Kind.PRIVATE, told=False):
    """The matching of one tender with all profiles, in chunks."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    scope: Col[str] = col(sa.Text)
    alerts: Col[bool] = col(sa.Boolean)
    material_revision: Col[int] = col(sa.Integer)
    match_revision: Col[int] = col(sa.Integer)
    status: Col[MatchRunStatus] = status(MatchRunStatus, default=MatchRunStatus.QUEUED)
    done: Col[int] = col(sa.Integer, default=0)
    total: Col[int] = col(sa.Integer, default=0)
    counts: Col[dict[str, int]] = col(Json)
    finished_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
