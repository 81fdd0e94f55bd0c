"""Workspaces, the tenders they rest on, comments, and what amendments touched."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, KnownTenant, TenantRow, col, status


class Tenant(KnownTenant, table="bid.tenant", kind=Kind.PRIVATE, told=False):
    """An organization as Organization announced it."""


class WorkspaceStatus(StrEnum):
    """Status of a workspace."""

    PREPARING = "preparing"
    IN_REVIEW = "in_review"
    READY = "ready"
    SUBMITTED = "submitted"
    AWARDED = "awarded"
    UNSUCCESSFUL = "unsuccessful"
    DISQUALIFIED = "disqualified"
    NO_BID = "no_bid"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"
    TENDER_CANCELLED = "tender_cancelled"


class Workspace(TenantRow, table="bid.workspace", kind=Kind.PRIVATE):
    """The bid of a company on one tender, once and for ever (BID-1).

    `gate_at` is the instant from which nothing is opened or sealed any more; with a closing known
    by its day only that is midnight before it (BID-5). `team` and `bidders` are maps by key.
    """

    tender_opportunity_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    origin: Col[str] = col(sa.Text, default="platform")  # platform, outside_platform
    title: Col[str] = col(sa.Text)
    buyer_name: Col[str | None] = col(sa.Text, nullable=True, default=None)
    external_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    external_key: Col[str | None] = col(sa.Text, nullable=True, default=None)
    bid_manager_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    access: Col[str] = col(sa.Text, default="team")  # team, organization
    envelopes: Col[str] = col(sa.Text, default="single")  # single, two
    team: Col[dict[str, Any]] = col(Json)
    bidders: Col[dict[str, Any]] = col(Json)
    closing_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    gate_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    amendment_number: Col[int] = col(sa.Integer, default=0)
    reconfirm_amendment: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    reconfirm_ripple_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    matrix_version: Col[int] = col(sa.Integer, default=1)
    coverage_overall: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    coverage_mandatory: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    status: Col[WorkspaceStatus] = status(WorkspaceStatus, default=WorkspaceStatus.PREPARING)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class TenderRef(TenantRow, table="bid.tender_ref", kind=Kind.PRIVATE):
    """The tender of a workspace as Opportunity described it at `as_of` (BID-3).

    `terms` holds the buyer, the submission, the preference, the listed forms and the dates.
    """

    workspace_id: Col[UUID] = col(pg.UUID)
    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    number: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    tender_status: Col[str] = col(sa.Text)
    amendment_number: Col[int] = col(sa.Integer)
    requirement_set_version: Col[int] = col(sa.Integer)
    closing_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    closing_precision: Col[str] = col(sa.Text)
    time_zone: Col[str] = col(sa.Text)
    validity_days: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    terms: Col[dict[str, Any]] = col(Json)
    as_of: Col[datetime] = col(Instant)


class Ripple(TenantRow, table="bid.ripple", kind=Kind.PRIVATE):
    """What one amendment touched in one workspace (BID-49)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    amendment_number: Col[int] = col(sa.Integer)
    causation_event_id: Col[UUID] = col(pg.UUID)
    material: Col[bool] = col(sa.Boolean)
    effects: Col[list[dict[str, Any]]] = col(Json)
    decision: Col[str | None] = col(sa.Text, nullable=True, default=None)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    decided_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decided_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class CommentStatus(StrEnum):
    """Status of a thread of comments."""

    OPEN = "open"
    RESOLVED = "resolved"


class Comment(TenantRow, table="bid.comment", kind=Kind.PRIVATE):
    """A comment or a reply; as secret as what it is about (BID-10)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    subject_type: Col[str] = col(sa.Text, default="workspace")
    subject_id: Col[str | None] = col(sa.Text, nullable=True, default=None)
    price: Col[bool] = col(sa.Boolean, default=False)
    in_reply_to: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    author_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    body: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    anchor_quote: Col[str | None] = col(sa.Text, nullable=True, default=None)
    anchor_version: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    mentions: Col[list[str]] = col(Json)
    blocking: Col[bool] = col(sa.Boolean, default=False)
    status: Col[CommentStatus] = status(CommentStatus, default=CommentStatus.OPEN)
    resolved_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    resolved_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    edited_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    deleted_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class OutcomeStatus(StrEnum):
    """Result of a bid."""

    PENDING = "pending"
    WON = "won"
    LOST = "lost"
    DISQUALIFIED = "disqualified"
    CANCELLED = "cancelled"


class Outcome(TenantRow, table="bid.outcome", kind=Kind.PRIVATE):
    """What became of a bid. `revision` counts results that were recorded (BID-52)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    status: Col[OutcomeStatus] = status(OutcomeStatus, default=OutcomeStatus.PENDING)
    revision: Col[int] = col(sa.Integer, default=0)
    stage: Col[str | None] = col(sa.Text, nullable=True, default=None)
    decided_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    award_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    awarded_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    awarded_currency: Col[str | None] = col(sa.Text, nullable=True, default=None)
    file_ids: Col[list[str]] = col(Json)
    our_scores: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    winner: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    reasons: Col[list[dict[str, Any]]] = col(Json)
    feedback: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    lessons: Col[dict[str, Any]] = col(Json)
    appeal: Col[dict[str, Any]] = col(Json)
    hint: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    history: Col[list[dict[str, Any]]] = col(Json)
    recorded_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    recorded_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
