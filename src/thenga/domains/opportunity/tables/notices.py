"""Tenders as they were published, their versions and what search finds of them."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, KnownTenant, NoticeRow, TenantRow, col, status


class Visibility(StrEnum):
    """Whether the keeper alone or everybody sees a tender."""

    PRIVATE = "private"
    SHARED = "shared"


class ClosingPrecision(StrEnum):
    """Whether a notice names the minute of the closing, or only the day."""

    MINUTE = "minute"
    DAY = "day"


class ClosingConfidence(StrEnum):
    """How sure the closing is: as the notice says it, repaired, doubted, or not known."""

    STATED = "stated"
    DERIVED = "derived"
    DOUBTFUL = "doubtful"
    UNKNOWN = "unknown"


class TenderStatus(StrEnum):
    """Status of a tender. Only the organization that manages it sees a draft."""

    DRAFT = "draft"
    PLANNED = "planned"
    OPEN = "open"
    CLOSED = "closed"
    CANCELLED = "cancelled"
    WITHDRAWN = "withdrawn"
    UNSUCCESSFUL = "unsuccessful"
    AWARDED = "awarded"
    SUPERSEDED = "superseded"


class TenderOpportunity(NoticeRow, table="opportunity.tender_opportunity", kind=Kind.NOTICE):
    """A public tender, kept by the platform, a buyer or the company that captured it.

    `closes_at` is when it takes no more bids: the closing, the end of its day, or a bound where
    the notice names none (OPP-12). `visibility` is what the keeper wants; `shared` is what holds.
    """

    tender_number: Col[str] = col(sa.Text)
    number_key: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    description: Col[str | None] = col(sa.Text, nullable=True, default=None)
    buyer_name: Col[str] = col(sa.Text)
    buyer_sphere: Col[str | None] = col(sa.Text, nullable=True, default=None)
    buyer_regime: Col[str | None] = col(sa.Text, nullable=True, default=None)
    source_buyer_id: Col[str | None] = col(sa.Text, nullable=True, default=None)
    ocid: Col[str | None] = col(sa.Text, nullable=True, default=None)
    opens_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    closing_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    closing_precision: Col[ClosingPrecision] = status(
        ClosingPrecision, default=ClosingPrecision.MINUTE
    )
    closing_raw: Col[str | None] = col(sa.Text, nullable=True, default=None)
    closing_confidence: Col[ClosingConfidence] = status(
        ClosingConfidence, default=ClosingConfidence.STATED
    )
    closes_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    time_zone: Col[str] = col(sa.Text, default="Africa/Johannesburg")
    method: Col[str | None] = col(sa.Text, nullable=True, default=None)
    method_details: Col[str | None] = col(sa.Text, nullable=True, default=None)
    main_category: Col[str | None] = col(sa.Text, nullable=True, default=None)
    category_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    classifications: Col[list[dict[str, str]]] = col(Json)
    value_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    value_currency: Col[str | None] = col(sa.Text, nullable=True, default=None)
    provinces: Col[list[str]] = col(pg.ARRAY(sa.Text))
    municipality_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    delivery_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    special_conditions: Col[str | None] = col(sa.Text, nullable=True, default=None)
    contact: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    visibility: Col[Visibility] = status(Visibility, default=Visibility.PRIVATE)
    status: Col[TenderStatus] = status(TenderStatus, default=TenderStatus.DRAFT)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    source_status: Col[str | None] = col(sa.Text, nullable=True, default=None)
    published_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    published_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    version_number: Col[int] = col(sa.Integer, default=0)
    amendment_number: Col[int] = col(sa.Integer, default=0)
    material_revision: Col[int] = col(sa.Integer, default=0)
    match_revision: Col[int] = col(sa.Integer, default=0)
    requirement_set_version: Col[int] = col(sa.Integer, default=0)
    # Read from requirements: validityDays, preference, functionality, submission, forms.
    terms: Col[dict[str, Any]] = col(Json)
    awards: Col[list[dict[str, Any]]] = col(Json)
    conflicts: Col[list[dict[str, Any]]] = col(Json)
    doubts: Col[list[str]] = col(pg.ARRAY(sa.Text))
    superseded_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    primary_source_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    source_rank: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class TenderVersion(NoticeRow, table="opportunity.tender_version", kind=Kind.NOTICE, told=False):
    """The whole document of a tender as it stood; number 1 is what was published."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    document: Col[dict[str, Any]] = col(Json)
    source_record_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    normaliser_version: Col[int | None] = col(sa.Integer, nullable=True, default=None)


class SearchEntry(TenantRow):
    """What search finds of a tender; the identifier is the tender's.

    Written by `services/notices/indexing.py` alone, because the words are made by the database.
    """

    status: Col[str] = col(sa.Text)
    opens_at: Col[datetime | None] = col(Instant, nullable=True)
    closes_at: Col[datetime] = col(Instant)
    closing_sort: Col[datetime] = col(Instant)
    published_sort: Col[datetime] = col(Instant)
    number_key: Col[str] = col(sa.Text)
    ocid: Col[str | None] = col(sa.Text, nullable=True)
    buyer_words: Col[str] = col(pg.TSVECTOR)
    buyer_name: Col[str] = col(sa.Text)
    source_buyer_id: Col[str | None] = col(sa.Text, nullable=True)
    sphere: Col[str | None] = col(sa.Text, nullable=True)
    method: Col[str | None] = col(sa.Text, nullable=True)
    main_category: Col[str | None] = col(sa.Text, nullable=True)
    category_text: Col[str | None] = col(sa.Text, nullable=True)
    provinces: Col[list[str]] = col(pg.ARRAY(sa.Text))
    municipality_code: Col[str | None] = col(sa.Text, nullable=True)
    classification_prefixes: Col[list[str]] = col(pg.ARRAY(sa.Text))
    cidb_classes: Col[list[str]] = col(pg.ARRAY(sa.Text))
    cidb_grade: Col[int | None] = col(sa.Integer, nullable=True)
    value_minor: Col[int | None] = col(sa.BigInteger, nullable=True)
    briefing: Col[str] = col(sa.Text)  # none, any or compulsory
    has_documents: Col[bool] = col(sa.Boolean)
    source_id: Col[UUID | None] = col(pg.UUID, nullable=True)
    title_words: Col[str] = col(pg.TSVECTOR)
    words: Col[str] = col(pg.TSVECTOR)


class NoticeSearch(SearchEntry, table="opportunity.notice_search", kind=Kind.PUBLISHED, told=False):
    """The shared tenders, for everybody (OPP-18)."""


class CaptureSearch(SearchEntry, table="opportunity.capture_search", kind=Kind.PRIVATE, told=False):
    """The captures and drafts of one keeper, found by its organization and then read through."""


class Tenant(KnownTenant, table="opportunity.tenant", kind=Kind.PRIVATE, told=False):
    """An organization as Organization announced it: of which type, and whether it is a sandbox."""

    organization_type: Col[str] = col(sa.Text)
