"""Renewals, payment failures and test clocks."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class FailureKind(StrEnum):
    """Why an invoice is unpaid: a charge was declined, the invoice is overdue, or the payer
    disputes the payment."""

    DECLINED = "declined"
    OVERDUE = "overdue"
    DISPUTED = "disputed"


class FailureCategory(StrEnum):
    """Why a charge was declined. `soft` may succeed later, `hard` will not, `authentication`
    needs the customer, `technical` is a fault on the way."""

    SOFT = "soft"
    HARD = "hard"
    AUTHENTICATION = "authentication"
    TECHNICAL = "technical"


class FailureStatus(StrEnum):
    """Status of a recovery. `exhausted` means no automatic retries are left."""

    OPEN = "open"
    RETRYING = "retrying"
    RECOVERED = "recovered"
    EXHAUSTED = "exhausted"
    WRITTEN_OFF = "written_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A declined charge or a reminder, as `PaymentFailure.attempts` stores it."""

    at: datetime
    reminder: bool = False
    payment_id: UUID | None = None
    payment_method_id: UUID | None = None
    initiated_by: str | None = None
    category: FailureCategory | None = None
    code: str | None = None

    @classmethod
    def of_row(cls, document: dict[str, Any]) -> Self:
        payment_id, method_id = document.get("paymentId"), document.get("paymentMethodId")
        category = document.get("category")
        return cls(
            at=datetime.fromisoformat(document["at"]),
            reminder=document.get("reminder", False),
            payment_id=None if payment_id is None else UUID(payment_id),
            payment_method_id=None if method_id is None else UUID(method_id),
            initiated_by=document.get("initiatedBy"),
            category=None if category is None else FailureCategory(category),
            code=document.get("code"),
        )

    def to_row(self) -> dict[str, Any]:
        if self.reminder:
            return {"at": self.at.isoformat(), "reminder": True}
        return {
            "at": self.at.isoformat(),
            "paymentId": None if self.payment_id is None else str(self.payment_id),
            "paymentMethodId": None
            if self.payment_method_id is None
            else str(self.payment_method_id),
            "initiatedBy": self.initiated_by,
            "category": None if self.category is None else self.category.value,
            "code": self.code,
        }


class PaymentFailure(TenantRow, table="billing.payment_failure", kind=Kind.PRIVATE):
    """The recovery of one unpaid invoice. Its dates and policy are fixed when it starts."""

    subscription_id: Col[UUID] = col(pg.UUID)
    invoice_id: Col[UUID] = col(pg.UUID)
    kind: Col[FailureKind] = status(FailureKind)
    category: Col[FailureCategory] = status(FailureCategory)
    first_charge: Col[bool] = col(sa.Boolean, default=False)  # the first charge after a trial
    first_failed_at: Col[datetime] = col(Instant)
    attempts: Col[list[dict[str, Any]]] = col(pg.JSONB, default=[])
    notices: Col[int] = col(sa.Integer, default=1)  # notices sent, including the first failure
    policy: Col[dict[str, Any]] = col(pg.JSONB)  # `billing.dunning` when it started
    policy_version: Col[date] = col(sa.Date)  # the day from which that policy applies
    next_retry_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    retries_left: Col[int] = col(sa.Integer)
    grace_ends_at: Col[datetime] = col(Instant)
    shielded_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    held_since: Col[datetime | None] = col(
        Instant, nullable=True, default=None
    )  # since when the account is parked
    exhausted_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    ends_at: Col[datetime] = col(Instant)  # when the unpaid subscription ends
    grace_told_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status: Col[FailureStatus] = status(FailureStatus, default=FailureStatus.OPEN)
    recovered_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    credit_note_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)

    @property
    def history(self) -> list[Attempt]:
        return [Attempt.of_row(document) for document in self.attempts]


class Renewal(TenantRow, table="billing.renewal", kind=Kind.PRIVATE):
    """A renewal of one period: its notice and its invoice, once per subscription and first day
    (BIL-14)."""

    subscription_id: Col[UUID] = col(pg.UUID)
    period_start: Col[date] = col(sa.Date)
    notice_sent_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    renewed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    period_end: Col[date | None] = col(sa.Date, nullable=True, default=None)
    invoice_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    amount_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    currency: Col[str] = col(sa.CHAR(3), default="ZAR")


class ClockStatus(StrEnum):
    """Status of a sandbox clock."""

    READY = "ready"
    ADVANCING = "advancing"
    STOPPED = "stopped"


class TestClock(TenantRow, table="billing.test_clock", kind=Kind.PRIVATE):
    """The latest advance of a sandbox clock: its target and progress (BIL-50)."""

    target_at: Col[datetime] = col(Instant)
    stepped_to: Col[datetime] = col(Instant)
    steps: Col[int] = col(sa.Integer, default=0)
    turn: Col[int] = col(sa.Integer, default=0)  # makes the key of each job unique
    waited: Col[int] = col(sa.Integer, default=0)  # turns since its last step
    status: Col[ClockStatus] = status(ClockStatus, default=ClockStatus.ADVANCING)
