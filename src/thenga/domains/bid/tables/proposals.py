"""Drafts, sections and their versions, suggestions, and the requirement matrix."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, TenantRow, col, status


class Draft(TenantRow, table="bid.draft", kind=Kind.PRIVATE):
    """A document of the proposal; its status follows from its sections."""

    workspace_id: Col[UUID] = col(pg.UUID)
    title: Col[str] = col(sa.Text)
    title_key: Col[str] = col(sa.Text)
    envelope: Col[str] = col(sa.Text, default="technical")  # technical, financial


class SectionStatus(StrEnum):
    """Status of a section."""

    NOT_STARTED = "not_started"
    DRAFTING = "drafting"
    READY_FOR_REVIEW = "ready_for_review"
    CHANGES_REQUESTED = "changes_requested"
    APPROVED = "approved"
    LOCKED = "locked"


class Section(TenantRow, table="bid.section", kind=Kind.PRIVATE):
    """A section of a draft; its text is in its versions.

    `authors` wrote a version since the last approval; none of them can approve it (BID-12).
    """

    workspace_id: Col[UUID] = col(pg.UUID)
    draft_id: Col[UUID] = col(pg.UUID)
    title: Col[str] = col(sa.Text)
    instructions: Col[str | None] = col(sa.Text, nullable=True, default=None)
    owner_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    position: Col[int] = col(sa.Integer)
    limit_words: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    limit_pages: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    requirement_ids: Col[list[str]] = col(Json)
    version_number: Col[int] = col(sa.Integer, default=0)
    sha256: Col[str | None] = col(sa.Text, nullable=True, default=None)
    words: Col[int] = col(sa.Integer, default=0)
    authors: Col[list[str]] = col(Json)
    written_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    written_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    approved_version: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    approved_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    status: Col[SectionStatus] = status(SectionStatus, default=SectionStatus.NOT_STARTED)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class SectionVersion(TenantRow, table="bid.section_version", kind=Kind.PRIVATE):
    """The text of a section as somebody wrote it; never changed again (BID-11)."""

    section_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    content: Col[str] = col(sa.Text, secret=True)
    sha256: Col[str] = col(sa.Text)
    words: Col[int] = col(sa.Integer)
    author_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    suggestion_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class SuggestionStatus(StrEnum):
    """Status of a suggestion to a section."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    EDITED_AND_ACCEPTED = "edited_and_accepted"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"


class SectionSuggestion(TenantRow, table="bid.section_suggestion", kind=Kind.PRIVATE):
    """A text that a machine proposes for a section; it waits for a person (BID-14)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    section_id: Col[UUID] = col(pg.UUID)
    key: Col[str] = col(sa.Text)
    base_version: Col[int] = col(sa.Integer)
    text: Col[str] = col(sa.Text, secret=True)
    sources: Col[list[dict[str, Any]]] = col(Json)
    confidence: Col[Decimal] = col(sa.Numeric)
    execution_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    explanation_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    produced_by: Col[dict[str, Any]] = col(Json)
    guardrail_outcome: Col[str] = col(sa.Text)
    status: Col[SuggestionStatus] = status(SuggestionStatus, default=SuggestionStatus.PENDING)
    decision_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    decided_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decided_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    expires_at: Col[datetime] = col(Instant)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class MatrixRow(TenantRow, table="bid.matrix_row", kind=Kind.PRIVATE):
    """How the bid answers one requirement of the tender.

    The columns from `requirement_version` to `requirement_as_of` are what Opportunity said of it;
    reactions alone write them (BID-3). `answered_version` is the one that the answer was given to.
    """

    workspace_id: Col[UUID] = col(pg.UUID)
    requirement_id: Col[UUID] = col(pg.UUID)
    requirement_version: Col[int] = col(sa.Integer)
    requirement_class: Col[str] = col(sa.Text)
    requirement_kind: Col[str] = col(sa.Text)
    requirement_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    requirement_weight: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    requirement_label: Col[str] = col(sa.Text)
    requirement_as_of: Col[datetime] = col(Instant)
    needs_evidence: Col[bool] = col(sa.Boolean, default=False)
    removed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    answered_version: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    response: Col[str] = col(sa.Text, default="none")
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    justification: Col[str | None] = col(sa.Text, nullable=True, default=None)
    section_ids: Col[list[str]] = col(Json)
    form_ids: Col[list[str]] = col(Json)
    evidence_ids: Col[list[str]] = col(Json)
    owner_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class EvidenceRef(TenantRow, table="bid.evidence_ref", kind=Kind.PRIVATE):
    """An evidence that a workspace cites, as Compliance last described it (BID-16)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    evidence_id: Col[UUID] = col(pg.UUID)
    proof_version: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    state: Col[str] = col(sa.Text, default="unknown")  # live, stale, moved, erased, forbidden
    valid_until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    sha256: Col[str | None] = col(sa.Text, nullable=True, default=None)
    as_of: Col[datetime | None] = col(Instant, nullable=True, default=None)
