"""What a company watches and pursues; no other tenant ever learns of it (OPP-43)."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, TenantRow, col, status


class WatchlistStatus(StrEnum):
    """Status of a watchlist. Paused ones never alert."""

    ACTIVE = "active"
    PAUSED = "paused"
    ARCHIVED = "archived"


class Watchlist(TenantRow, table="opportunity.watchlist", kind=Kind.PRIVATE):
    """A stored search that alerts. `filters` is compiled into the columns from `query` on."""

    name: Col[str] = col(sa.Text)
    name_key: Col[str] = col(sa.Text)
    filters: Col[dict[str, Any]] = col(Json)
    query: Col[str | None] = col(pg.TSQUERY, nullable=True, default=None)
    buyer_query: Col[str | None] = col(pg.TSQUERY, nullable=True, default=None)
    province: Col[str | None] = col(sa.Text, nullable=True, default=None)
    municipality: Col[str | None] = col(sa.Text, nullable=True, default=None)
    category: Col[str | None] = col(sa.Text, nullable=True, default=None)
    classification: Col[str | None] = col(sa.Text, nullable=True, default=None)
    buyer_id: Col[str | None] = col(sa.Text, nullable=True, default=None)
    sphere: Col[str | None] = col(sa.Text, nullable=True, default=None)
    method: Col[str | None] = col(sa.Text, nullable=True, default=None)
    main_category: Col[str | None] = col(sa.Text, nullable=True, default=None)
    cidb_class: Col[str | None] = col(sa.Text, nullable=True, default=None)
    cidb_grade_max: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    value_min_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    value_max_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    closing_from: Col[datetime | None] = col(Instant, nullable=True, default=None)
    closing_to: Col[datetime | None] = col(Instant, nullable=True, default=None)
    published_from: Col[datetime | None] = col(Instant, nullable=True, default=None)
    briefing: Col[str | None] = col(sa.Text, nullable=True, default=None)
    number_key: Col[str | None] = col(sa.Text, nullable=True, default=None)
    ocid: Col[str | None] = col(sa.Text, nullable=True, default=None)
    source_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    has_documents: Col[bool | None] = col(sa.Boolean, nullable=True, default=None)
    alert_on: Col[list[str]] = col(pg.ARRAY(sa.Text))
    min_score_tenths: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    is_shared: Col[bool] = col(sa.Boolean, default=False)
    owner_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    status: Col[WatchlistStatus] = status(WatchlistStatus, default=WatchlistStatus.ACTIVE)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)


class WatchlistHit(TenantRow, table="opportunity.watchlist_hit", kind=Kind.PRIVATE, told=False):
    """That a tender fitted a watchlist, once a material revision."""

    watchlist_id: Col[UUID] = col(pg.UUID)
    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    material_revision: Col[int] = col(sa.Integer)
    at: Col[datetime] = col(Instant)


class DeclineReason(StrEnum):
    """Why a company does not bid."""

    TOO_SMALL = "too_small"
    TOO_LARGE = "too_large"
    TOO_FAR = "too_far"
    NO_CAPACITY = "no_capacity"
    NOT_QUALIFIED = "not_qualified"
    UNPROFITABLE = "unprofitable"
    BUYER_HISTORY = "buyer_history"
    SHORT_NOTICE = "short_notice"
    OTHER = "other"


class LedBy(StrEnum):
    """Who moves a saved tender: people, or the bid on it."""

    ORGANIZATION = "organization"
    BID = "bid"


class Stage(StrEnum):
    """Stage of a saved tender on the board."""

    SAVED = "saved"
    REVIEWING = "reviewing"
    PURSUING = "pursuing"
    SUBMITTED = "submitted"
    WON = "won"
    LOST = "lost"
    APPEALING = "appealing"
    DECLINED = "declined"
    CANCELLED = "cancelled"


class SavedOpportunity(TenantRow, table="opportunity.saved_opportunity", kind=Kind.PRIVATE):
    """A tender on a company's board."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    stage: Col[Stage] = status(Stage, default=Stage.SAVED)
    stage_changed_at: Col[datetime] = col(Instant)
    owner_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    priority: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    tags: Col[list[str]] = col(pg.ARRAY(sa.Text))
    notes: Col[str | None] = col(sa.Text, nullable=True, default=None)
    estimated_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    estimated_currency: Col[str | None] = col(sa.Text, nullable=True, default=None)
    rank: Col[int] = col(sa.BigInteger, default=0)
    decline_reason: Col[DeclineReason | None] = status(DeclineReason, nullable=True)
    led_by: Col[LedBy] = status(LedBy, default=LedBy.ORGANIZATION)
    bid_workspace_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    bid_sequence: Col[int] = col(sa.BigInteger, default=0)
    attention: Col[list[dict[str, Any]]] = col(Json)
    next_deadline_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    closing_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class DeadlineTold(TenantRow, table="opportunity.deadline_told", kind=Kind.PRIVATE, told=False):
    """That a company was told of a deadline at a threshold, once a due date (OPP-29)."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    deadline_id: Col[UUID] = col(pg.UUID)
    due_at: Col[datetime] = col(Instant)
    threshold: Col[str] = col(sa.Text)
