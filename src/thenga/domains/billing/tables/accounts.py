"""Billing accounts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, TenantRow, col, status


class AccountStatus(StrEnum):
    """`provisional` has no billing details yet, `active` can buy plans, `closed` is final."""

    PROVISIONAL = "provisional"
    ACTIVE = "active"
    CLOSED = "closed"


class Standing(StrEnum):
    """Computed: `delinquent` while a payment is overdue or has failed."""

    GOOD = "good"
    DELINQUENT = "delinquent"


class CollectionMethod(StrEnum):
    """How invoices are collected: by charging a payment method, or by bank transfer."""

    AUTOMATIC = "automatic"
    SEND_INVOICE = "send_invoice"


class Book(StrEnum):
    """Sandbox organizations have separate books, number series and providers (BIL-29)."""

    LIVE = "live"
    SANDBOX = "sandbox"


@dataclass(frozen=True, slots=True)
class Parked:
    """Why and since when an account is not billed automatically (BIL-51)."""

    reason: str
    since: datetime

    @classmethod
    def of_row(cls, document: dict[str, Any]) -> Self:
        return cls(document["reason"], datetime.fromisoformat(document["since"]))

    def to_row(self) -> dict[str, Any]:
        return {"reason": self.reason, "since": self.since.isoformat()}


@dataclass(frozen=True, slots=True)
class BillToReview:
    """Billing fields that differ from the profile, and since when."""

    fields: frozenset[str]
    since: datetime

    @classmethod
    def of_row(cls, document: dict[str, Any]) -> Self:
        return cls(frozenset(document["fields"]), datetime.fromisoformat(document["since"]))

    def to_row(self) -> dict[str, Any]:
        return {"fields": sorted(self.fields), "since": self.since.isoformat()}


class Account(TenantRow, table="billing.account", kind=Kind.PRIVATE):
    """The billing account of an organization. Its standing and balance are computed."""

    book: Col[Book] = status(Book)
    bill_to: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    bill_to_provenance: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    bill_to_review: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    # Addresses of people: never in an audit row.
    invoice_emails: Col[list[str]] = col(pg.ARRAY(sa.Text), default=[], secret=True)
    order_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    currency: Col[str] = col(sa.CHAR(3), default="ZAR")
    spend_cap_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    collection_method: Col[CollectionMethod] = status(
        CollectionMethod, default=CollectionMethod.AUTOMATIC
    )
    status: Col[AccountStatus] = status(AccountStatus, default=AccountStatus.PROVISIONAL)
    parked: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)

    def is_parked_for(self, reason: str) -> bool:
        return self.parked is not None and Parked.of_row(self.parked).reason == reason
