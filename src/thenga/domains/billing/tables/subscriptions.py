"""Subscriptions, cancellations, pauses and trials."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.billing.tables.accounts import Book
from thenga.domains.billing.tables.catalogue import Interval, PlanKind
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, TenantRow, col, status
from thenga.kernel.values.money import Money


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


class ChangeStatus(StrEnum):
    """What a pending plan change waits for: its payment, or its date."""

    AWAITING_PAYMENT = "awaiting_payment"
    SCHEDULED = "scheduled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingChange:
    """A plan change that has not been applied, as `Subscription.pending_change` stores it."""

    change_id: UUID
    plan_code: str
    plan_version: int
    interval: Interval
    effective: str  # an `Effective`
    effective_on: date
    status: ChangeStatus
    credit_minor: int
    amount_due_minor: int
    currency: str
    credited_line_id: UUID | None  # the invoice line that the credit note is for
    restarts_periods: bool
    invoice_id: UUID | None = None
    payment_id: UUID | None = None
    expires_at: datetime | None = None
    former: "PendingChange | None" = None  # a scheduled change that this one replaces once paid

    @property
    def amount_due(self) -> Money:
        return Money(self.amount_due_minor, self.currency)

    @property
    def is_scheduled(self) -> bool:
        return self.status is ChangeStatus.SCHEDULED

    @classmethod
    def of_row(cls, document: dict[str, Any]) -> Self:
        former, expires_at = document.get("former"), document["expiresAt"]
        return cls(
            change_id=UUID(document["changeId"]),
            plan_code=document["planCode"],
            plan_version=document["planVersion"],
            interval=Interval(document["interval"]),
            effective=document["effective"],
            effective_on=date.fromisoformat(document["effectiveOn"]),
            status=ChangeStatus(document["status"]),
            credit_minor=document["creditMinor"],
            amount_due_minor=document["amountDueMinor"],
            currency=document["currency"],
            credited_line_id=_id_of(document["creditedLineId"]),
            restarts_periods=document["begins"],
            invoice_id=_id_of(document["invoiceId"]),
            payment_id=_id_of(document["paymentId"]),
            expires_at=None if expires_at is None else datetime.fromisoformat(expires_at),
            former=None if former is None else cls.of_row(former),
        )

    def to_row(self) -> dict[str, Any]:
        return {
            "changeId": str(self.change_id),
            "planCode": self.plan_code,
            "planVersion": self.plan_version,
            "interval": self.interval.value,
            "effective": self.effective,
            "effectiveOn": self.effective_on.isoformat(),
            "status": self.status.value,
            "creditMinor": self.credit_minor,
            "amountDueMinor": self.amount_due_minor,
            "currency": self.currency,
            "creditedLineId": _text_of(self.credited_line_id),
            "begins": self.restarts_periods,
            "invoiceId": _text_of(self.invoice_id),
            "paymentId": _text_of(self.payment_id),
            "expiresAt": None if self.expires_at is None else self.expires_at.isoformat(),
            "former": None if self.former is None else self.former.to_row(),
        }


def _id_of(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)


def _text_of(identifier: UUID | None) -> str | None:
    return None if identifier is None else str(identifier)


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
    changed_on: Col[date | None] = col(
        sa.Date, nullable=True, default=None
    )  # day of the last plan change
    usage_billed_to: Col[date | None] = col(
        sa.Date, nullable=True, default=None
    )  # only for yearly plans
    disputed: Col[bool] = col(sa.Boolean, default=False)
    trial_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    payment_method_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)

    @property
    def change(self) -> PendingChange | None:
        document = self.pending_change
        return None if document is None else PendingChange.of_row(document)


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
    # Free text of a person: never in an audit row, and erased with the person (BIL-52).
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
    period_days: Col[int] = col(sa.Integer)  # days of the full period
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
