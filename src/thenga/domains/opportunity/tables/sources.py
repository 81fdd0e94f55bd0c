"""Where tenders come from: sources, their runs and the records that were read."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, NoticeRow, Row, TenantRow, col, status


class SourceStatus(StrEnum):
    """Status of a source. Only active ones are polled."""

    DRAFT = "draft"
    ACTIVE = "active"
    PAUSED = "paused"
    RETIRED = "retired"


class Source(NoticeRow, table="opportunity.source", kind=Kind.NOTICE):
    """A feed or a place by hand from which tenders come."""

    name: Col[str] = col(sa.Text)
    name_key: Col[str] = col(sa.Text)
    kind: Col[str] = col(sa.Text)
    address: Col[str | None] = col(sa.Text, nullable=True, default=None)
    settings: Col[dict[str, Any]] = col(Json)
    time_zone: Col[str] = col(sa.Text, default="Africa/Johannesburg")
    clock_fault: Col[str] = col(sa.Text, default="none")
    clock_fault_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    cadence_seconds: Col[int] = col(sa.Integer)
    document_hosts: Col[list[str]] = col(pg.ARRAY(sa.Text))
    rank: Col[int] = col(sa.Integer)
    licence: Col[str] = col(sa.Text)
    attribution: Col[str] = col(sa.Text)
    visibility: Col[str] = col(sa.Text, default="private")
    status: Col[SourceStatus] = status(SourceStatus, default=SourceStatus.DRAFT)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    health: Col[str] = col(sa.Text, default="unknown")
    health_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    last_run_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    last_success_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    last_new_record_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    completeness: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    probed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class SourceState(TenantRow, table="opportunity.source_state", kind=Kind.PRIVATE, told=False):
    """How far the reading of a source is; its keeper's alone. The identifier is the source's."""

    cursor: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    failures: Col[int] = col(sa.Integer, default=0)
    last_error: Col[str | None] = col(sa.Text, nullable=True, default=None)
    breaker_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    validators: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    trailed_on: Col[datetime | None] = col(Instant, nullable=True, default=None)
    failed_runs: Col[int] = col(sa.Integer, default=0)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class RunStatus(StrEnum):
    """Status of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Run(TenantRow, table="opportunity.run", kind=Kind.PRIVATE, told=False):
    """One reading of a source over a stretch of days."""

    source_id: Col[UUID] = col(pg.UUID)
    mode: Col[str] = col(sa.Text)
    starts_on: Col[datetime | None] = col(Instant, nullable=True, default=None)
    ends_on: Col[datetime | None] = col(Instant, nullable=True, default=None)
    releases: Col[list[dict[str, Any]] | None] = col(Json, nullable=True, default=None)
    status: Col[RunStatus] = status(RunStatus, default=RunStatus.QUEUED)
    cursor: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    seen_keys: Col[list[str]] = col(pg.ARRAY(sa.Text))
    pages: Col[int] = col(sa.Integer, default=0)
    requests: Col[int] = col(sa.Integer, default=0)
    counts: Col[dict[str, int]] = col(Json)
    completeness: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    rejects: Col[list[dict[str, Any]]] = col(Json)
    error_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    attempts: Col[int] = col(sa.Integer, default=0)
    fence: Col[int] = col(sa.Integer, default=0)
    started_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    finished_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    asked_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class SourceRecord(NoticeRow, table="opportunity.source_record", kind=Kind.NOTICE, told=False):
    """What a source sent of one tender, as it was received.

    The bytes are in the file store: those of its page, of which these are `raw_size` bytes from
    `raw_first` on.
    """

    source_id: Col[UUID] = col(pg.UUID)
    source_key: Col[str] = col(sa.Text)
    content_hash: Col[str] = col(sa.Text)
    object_key: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    raw_first: Col[int] = col(sa.Integer, default=0)
    raw_size: Col[int] = col(sa.Integer, default=0)
    received_at: Col[datetime] = col(Instant)
    normaliser_version: Col[int] = col(sa.Integer)
    report: Col[list[dict[str, Any]]] = col(Json)
    outcome: Col[str] = col(sa.Text)
    tender_opportunity_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class FetchSlot(Row, table="opportunity.fetch_slot", kind=Kind.PLATFORM, told=False):
    """The right to ask one host, over all processes (OPP-1)."""

    host: Col[str] = col(sa.Text)
    leased_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    lease: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    free_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class CategoryMap(Row, table="opportunity.category_map", kind=Kind.CATALOGUE, told=False):
    """What a portal's own category means in UNSPSC prefixes and CIDB classes."""

    text: Col[str] = col(sa.Text)
    unspsc: Col[list[str]] = col(pg.ARRAY(sa.Text))
    cidb: Col[list[str]] = col(pg.ARRAY(sa.Text))
    edition: Col[int] = col(sa.Integer)
