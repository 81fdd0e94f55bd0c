"""Documents of tenders, their pages and what search finds on them."""

from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, NoticeRow, TenantRow, col, status
from thenga.kernel.files.contents import ContentRow


class FetchState(StrEnum):
    """Fetch status of a document."""

    NONE = "none"
    QUEUED = "queued"
    FETCHING = "fetching"
    STORED = "stored"
    FAILED = "failed"
    REFUSED = "refused"
    GONE = "gone"


class TextState(StrEnum):
    """Whether the text of a document could be read."""

    NONE = "none"
    QUEUED = "queued"
    EXTRACTING = "extracting"
    EXTRACTED = "extracted"
    PARTIAL = "partial"
    NEEDS_OCR = "needs_ocr"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


class IndexState(StrEnum):
    """Whether search finds the pages."""

    NONE = "none"
    INDEXED = "indexed"
    DROPPED = "dropped"


class Document(ContentRow, table="opportunity.document", kind=Kind.NOTICE):
    """A document of a tender: fetched from its address, or uploaded."""

    shared: Col[bool] = col(sa.Boolean, default=False)
    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    title: Col[str] = col(sa.Text)
    url: Col[str | None] = col(sa.Text, nullable=True, default=None)
    document_type: Col[str] = col(sa.Text, default="other")
    language: Col[str | None] = col(sa.Text, nullable=True, default=None)
    replaces_document_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    superseded_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    source_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    source_document_id: Col[str | None] = col(sa.Text, nullable=True, default=None)
    fetch_state: Col[FetchState] = status(FetchState, default=FetchState.NONE)
    text_state: Col[TextState] = status(TextState, default=TextState.NONE)
    index_state: Col[IndexState] = status(IndexState, default=IndexState.NONE)
    attempts: Col[int] = col(sa.Integer, default=0)
    missing_times: Col[int] = col(sa.Integer, default=0)
    pages: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    ocr_pages: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    mean_confidence: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    reason_code: Col[str | None] = col(sa.Text, nullable=True, default=None)


class DocumentPage(NoticeRow, table="opportunity.document_page", kind=Kind.NOTICE, told=False):
    """The text of one page."""

    document_id: Col[UUID] = col(pg.UUID)
    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    text: Col[str] = col(sa.Text)
    quality: Col[str] = col(sa.Text, default="native")
    confidence: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)


class PageEntry(TenantRow):
    """What search finds of a page; the identifier is the page's. Written by constant SQL."""

    document_id: Col[UUID] = col(pg.UUID)
    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    page: Col[int] = col(sa.Integer)
    words: Col[Any] = col(pg.TSVECTOR)


class PageSearch(PageEntry, table="opportunity.page_search", kind=Kind.PUBLISHED, told=False):
    """Pages of shared documents, for everybody."""


class OwnPageSearch(PageEntry, table="opportunity.own_page_search", kind=Kind.PRIVATE, told=False):
    """Pages of documents that one organization keeps for itself."""
