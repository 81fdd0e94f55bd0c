"""Payments, payment methods, refunds, and reports from providers."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.billing.tables.recovery import FailureCategory
from thenga.domains.billing.values.provider import StatedStatus, StatementKind
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, Sealed, TenantRow, col, status
from thenga.kernel.values.money import Money


class PaymentStatus(StrEnum):
    """Status of a payment. `requires_action` waits for the customer."""

    CREATED = "created"
    REQUIRES_ACTION = "requires_action"
    PROCESSING = "processing"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    FAILED = "failed"
    SUCCEEDED = "succeeded"


class DisputeStatus(StrEnum):
    """Whether the payer's bank disputes a payment, and how the dispute ended."""

    NONE = "none"
    OPEN = "open"
    WON = "won"
    LOST = "lost"


class MethodKind(StrEnum):
    """Kind of payment method."""

    CARD = "card"
    BANK = "bank"
    EFT = "eft"


class MethodStatus(StrEnum):
    """Status of a payment method."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class RefundStatus(StrEnum):
    """Status of a refund."""

    REQUESTED = "requested"
    PROCESSING = "processing"
    FAILED = "failed"
    SUCCEEDED = "succeeded"


class CallbackStatus(StrEnum):
    """Result of processing a callback. `quarantined` needs an operator's review."""

    RECEIVED = "received"
    APPLIED = "applied"
    STALE = "stale"
    IGNORED = "ignored"
    QUARANTINED = "quarantined"


class StatementOutcome(StrEnum):
    """What a provider's report did: changed something, was out of date, or did not match our
    records."""

    APPLIED = "applied"
    STALE = "stale"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class Decline:
    """Why a payment failed, as `Payment.failure` stores it. `at` is by the provider's clock."""

    category: FailureCategory
    code: str | None = None
    at: datetime | None = None

    @classmethod
    def of_row(cls, document: dict[str, Any]) -> Self:
        at = document["at"]
        return cls(
            FailureCategory(document["category"]),
            document["code"],
            None if at is None else datetime.fromisoformat(at),
        )

    def to_row(self) -> dict[str, Any]:
        at = None if self.at is None else self.at.isoformat()
        return {"category": self.category.value, "code": self.code, "at": at}


class Payment(TenantRow, table="billing.payment", kind=Kind.PRIVATE):
    """One attempt to pay one invoice. Its amount comes from the invoice (BIL-30)."""

    account_id: Col[UUID] = col(pg.UUID)
    invoice_id: Col[UUID] = col(pg.UUID)
    subscription_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    payment_method_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    provider: Col[str] = col(sa.Text)
    reference: Col[str] = col(sa.Text)
    provider_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    paid_by: Col[list[str]] = col(pg.ARRAY(sa.Text), default=[])  # one id for each payment received
    amount_minor: Col[int] = col(sa.BigInteger)
    currency: Col[str] = col(sa.CHAR(3))
    dispute_status: Col[DisputeStatus] = status(DisputeStatus, default=DisputeStatus.NONE)
    status: Col[PaymentStatus] = status(PaymentStatus, default=PaymentStatus.CREATED)
    next_action: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    return_url: Col[str | None] = col(sa.Text, nullable=True, default=None)
    attempt: Col[int] = col(sa.Integer, default=0)
    initiated_by: Col[str] = col(sa.Text)
    failure: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    fee_minor: Col[int] = col(sa.BigInteger, default=0)
    refunded_minor: Col[int] = col(sa.BigInteger, default=0)
    disputes: Col[dict[str, str]] = col(pg.JSONB, default={})  # status by the provider's dispute id
    # By dispute id: the rank of the report that stated the amount, and the amount.
    dispute_amounts: Col[dict[str, list[int]]] = col(pg.JSONB, default={})
    provider_updated_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    bank_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    faults: Col[int] = col(sa.Integer, default=0)  # how often the provider rejected the order
    charge_again: Col[bool] = col(sa.Boolean, default=False)  # certain that nothing was charged
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)

    @property
    def amount(self) -> Money:
        return Money(self.amount_minor, self.currency)

    @property
    def decline(self) -> Decline | None:
        return None if self.failure is None else Decline.of_row(self.failure)


class PaymentMethod(TenantRow, table="billing.payment_method", kind=Kind.PRIVATE):
    """A payment method that can be charged without the customer. Its token is encrypted and
    never shown."""

    account_id: Col[UUID] = col(pg.UUID)
    provider: Col[str] = col(sa.Text)
    kind: Col[MethodKind] = status(MethodKind)
    brand: Col[str | None] = col(sa.Text, nullable=True, default=None)
    last4: Col[str | None] = col(sa.Text, nullable=True, default=None)
    expires_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    off_session: Col[bool] = col(sa.Boolean, default=True)
    status: Col[MethodStatus] = status(MethodStatus, default=MethodStatus.ACTIVE)
    preferred: Col[bool] = col(sa.Boolean, default=False)
    sealed_token: Col[bytes] = col(
        sa.LargeBinary, sealed=Sealed("payment-method", ("organization_id",))
    )
    token_hash: Col[bytes] = col(sa.LargeBinary, secret=True)
    expiry_told_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Refund(TenantRow, table="billing.refund", kind=Kind.PRIVATE):
    """Credit paid back through the provider that collected it."""

    payment_id: Col[UUID] = col(pg.UUID)
    provider: Col[str] = col(sa.Text)
    provider_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    provider_alias: Col[str | None] = col(sa.Text, nullable=True, default=None)
    amount_minor: Col[int] = col(sa.BigInteger)
    currency: Col[str] = col(sa.CHAR(3))
    reason: Col[str] = col(sa.Text)
    status: Col[RefundStatus] = status(RefundStatus, default=RefundStatus.REQUESTED)
    sent_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)

    @property
    def amount(self) -> Money:
        return Money(self.amount_minor, self.currency)


class ProviderStatement(
    TenantRow, table="billing.provider_statement", kind=Kind.PRIVATE, told=False
):
    """A verified report from a provider, and what it did (BIL-31)."""

    payment_id: Col[UUID] = col(pg.UUID)
    callback_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    source: Col[str] = col(sa.Text)  # callback, answer, poll, operator
    kind: Col[StatementKind] = status(StatementKind)
    outcome: Col[StatementOutcome] = status(StatementOutcome)
    status: Col[StatedStatus] = status(StatedStatus)
    provider_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    item_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    amount_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    currency: Col[str | None] = col(sa.Text, nullable=True, default=None)
    provider_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)


class ProviderCallback(Row, table="billing.provider_callback", kind=Kind.INTAKE, told=False):
    """A verified callback with encrypted bytes, and its result once processed."""

    provider: Col[str] = col(sa.Text)
    event_key: Col[str] = col(sa.Text)
    event_type: Col[str] = col(sa.Text)
    received_at: Col[datetime] = col(Instant)
    sha256: Col[bytes] = col(sa.LargeBinary)
    secret_used: Col[str] = col(sa.Text)  # which of the two: `current` or `former`
    status: Col[CallbackStatus] = status(CallbackStatus, default=CallbackStatus.RECEIVED)
    sealed_content: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, sealed=Sealed("provider-callback", ("id",))
    )
    statement: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    organization_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    payment_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    sender: Col[str | None] = col(sa.Text, nullable=True, default=None)  # IP address of the caller


class CallbackRejection(Row, table="billing.callback_rejection", kind=Kind.INTAKE, told=False):
    """A rejected call: a hash and a cause, at most a thousand per day and provider (BIL-37)."""

    provider: Col[str] = col(sa.Text)
    day: Col[date] = col(sa.Date)
    place: Col[int] = col(sa.Integer)
    sha256: Col[bytes] = col(sa.LargeBinary)
    cause: Col[str] = col(sa.Text)
