"""Subscriptions, cancellations, pauses and trials."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.billing.tables.accounts import Book
from thenga.domains.billing.tables.catalogue import PlanKind
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, TenantRow, col, status


class SubscriptionStatus(StrEnum):
    """Status of a subscription. `incomplete` waits for its first payment, `past_due` for an
    overdue one."""

    INCOMPLETE = "incomplete"
    INCOMPLETE_EXPIRED = "incomplete_expired"
    TRIALING = "trialing"
    ACTIVE = "active"
    PAST_DUE = "past_due"
    PAUSED = "paused"
    SUSPENDED = "suspended"
    ENDED = "ended"


class Access(StrEnum):
    """What an organization may do: `full`, `grace` (full access while a payment is overdue),
    `read_only`, or `none` (only reading and exporting own data)."""

    FULL = "full"
    GRACE = "grace"
    READ_ONLY = "read_only"
    NONE = "none"


class TrialStatus(StrEnum):
    """Status of a trial."""

    ACTIVE = "active"
    CONVERTED = "converted"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Subscription(TenantRow, table="billing.subscription", kind=Kind.PRIVATE):
    """A subscription to a plan version. Cancellation, pause and dispute are separate from its
    status."""

    account_id: Col[UUID] = col(pg.UUID)
    plan_code: Col[str] = col(sa.Text)
    plan_version: Col[int] = col(sa.Integer)
    kind: Col[PlanKind] = status(PlanKind)
    interval: Col[str | None] = col(sa.Text, nullable=True, default=None)  # an `Interval`
    status: Col[SubscriptionStatus] = status(SubscriptionStatus)
    anchor_date: Col[date | None] = col(sa.Date, nullable=True, default=None)
    period_start: Col[date | None] = col(sa.Date, nullable=True, default=None)
    period_end: Col[date | None] = col(sa.Date, nullable=True, default=None)
    pending_change: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    cancel_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    cancellation_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    paused_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    resume_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    banked_days: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    changed_on: Col[date | None] = col(sa.Date, nullable=True, default=None)  # another plan since
    usage_billed_to: Col[date | None] = col(sa.Date, nullable=True, default=None)  # in a year
    disputed: Col[bool] = col(sa.Boolean, default=False)
    trial_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    payment_method_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class CancellationStatus(StrEnum):
    """Status of a cancellation. `replaced` means an immediate one took its place."""

    SCHEDULED = "scheduled"
    EFFECTIVE = "effective"
    UNDONE = "undone"
    REPLACED = "replaced"


class CancellationMode(StrEnum):
    """When a cancellation takes effect: at the end of the paid period, or at once."""

    PERIOD_END = "period_end"
    IMMEDIATE = "immediate"


class Settlement(StrEnum):
    """How paid days that are not used are settled."""

    CREDIT = "credit"
    REFUND = "refund"
    NONE = "none"


class Cancellation(TenantRow, table="billing.cancellation", kind=Kind.PRIVATE):
    """A cancellation: when it takes effect, and what was credited or refunded."""

    subscription_id: Col[UUID] = col(pg.UUID)
    mode: Col[CancellationMode] = status(CancellationMode)
    reason_code: Col[str] = col(sa.Text)
    # What a person wrote: never in an audit row, and taken away with the person (BIL-52).
    comment: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    requested_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    settlement: Col[Settlement] = status(Settlement)
    effective_at: Col[datetime] = col(Instant)
    status: Col[CancellationStatus] = status(
        CancellationStatus, default=CancellationStatus.SCHEDULED
    )
    credited_minor: Col[int] = col(sa.BigInteger, default=0)
    currency: Col[str] = col(sa.CHAR(3), default="ZAR")
    credit_note_ids: Col[list[UUID]] = col(pg.ARRAY(pg.UUID), default=[])
    refund_ids: Col[list[UUID]] = col(pg.ARRAY(pg.UUID), default=[])
    undone_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Pause(TenantRow, table="billing.pause", kind=Kind.PRIVATE):
    """One pause: the days it banked, and where they continued (BIL-13)."""

    subscription_id: Col[UUID] = col(pg.UUID)
    paused_on: Col[date] = col(sa.Date)
    resume_by: Col[date] = col(sa.Date)
    banked_days: Col[int] = col(sa.Integer)
    period_days: Col[int] = col(sa.Integer)  # of the full period that was interrupted
    noticed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    resumed_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    continued_to: Col[date | None] = col(sa.Date, nullable=True, default=None)


class Trial(TenantRow, table="billing.trial", kind=Kind.PRIVATE):
    """The one trial of an organization. A sandbox may have several (BIL-17)."""

    book: Col[Book] = status(Book)
    plan_code: Col[str] = col(sa.Text)
    plan_version: Col[int] = col(sa.Integer)
    subscription_id: Col[UUID] = col(pg.UUID)
    started_at: Col[datetime] = col(Instant)
    notice_at: Col[datetime] = col(Instant)
    ends_at: Col[datetime] = col(Instant)
    noticed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status: Col[TrialStatus] = status(TrialStatus, default=TrialStatus.ACTIVE)
    converted_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class TrialCompany(Row, table="billing.trial_company", kind=Kind.BEARER):
    """A keyed hash of the registration number of a company that has used its trial."""

    hash: Col[bytes] = col(sa.LargeBinary, secret=True)
