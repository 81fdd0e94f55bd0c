"""Readiness, its history, what expires, and the tenders that a company watches."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col


class ReadinessState(TenantRow, table="compliance.readiness_state", kind=Kind.PRIVATE):
    """How ready a company was when it was last computed; its ID is the organization's.

    Each change counts `revision` up and makes it due; it is stale until `computed_revision` is
    the same.
    """

    revision: Col[int] = col(sa.BigInteger, default=0)
    computed_revision: Col[int] = col(sa.BigInteger, default=0)
    computed_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    computed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    verdict: Col[str | None] = col(sa.Text, nullable=True, default=None)
    score: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    blockers: Col[list[str]] = col(pg.JSONB)
    tenders: Col[dict[str, Any]] = col(pg.JSONB)  # by tender: verdict, score, blockers
    unknown_since: Col[dict[str, str]] = col(pg.JSONB)  # by code of a hard requirement: instant
    inputs_hash: Col[str | None] = col(sa.Text, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class ReadinessSnapshot(TenantRow, table="compliance.readiness_snapshot", kind=Kind.PRIVATE):
    """The readiness of one day; `scope` is `organization` or the ID of a tender."""

    scope: Col[str] = col(sa.Text)
    day: Col[date] = col(sa.Date)
    answer: Col[dict[str, Any]] = col(pg.JSONB)
    inputs_hash: Col[str] = col(sa.Text)


class ExpiryTold(TenantRow, table="compliance.expiry_told", kind=Kind.PRIVATE):
    """A window of a document version that was told; window 0 is its expiry (CMP-25)."""

    document_id: Col[UUID] = col(pg.UUID)
    document_version: Col[int] = col(sa.Integer)
    window: Col[int] = col(sa.Integer)
    told_at: Col[datetime] = col(Instant)


class TrackedTender(TenantRow, table="compliance.tracked_tender", kind=Kind.PRIVATE):
    """A tender that a company was matched with or bids on, with the terms that Opportunity told."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    interest: Col[str] = col(sa.Text)  # matched, bidding, awarded
    closing_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    validity_ends_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    expected_award_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    sphere: Col[str | None] = col(sa.Text, nullable=True, default=None)
    category: Col[str | None] = col(sa.Text, nullable=True, default=None)
    terms: Col[list[dict[str, Any]]] = col(pg.JSONB)
    terms_loaded_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    tender_sequence: Col[int] = col(sa.BigInteger, default=0)
    as_of: Col[datetime | None] = col(Instant, nullable=True, default=None)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
