"""Usage: records, totals, open items and reservations."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class Operation(StrEnum):
    """`add` counts a use; `hold` and `release` open and close what a gauge counts."""

    ADD = "add"
    HOLD = "hold"
    RELEASE = "release"


class ReservationStatus(StrEnum):
    """Status of a reservation. `released` means it expired without being settled."""

    HELD = "held"
    SETTLED = "settled"
    RELEASED = "released"


class UsageRecord(
    TenantRow,
    table="billing.usage_record",
    kind=Kind.PRIVATE,
    key=("organization_id", "meter", "key"),
    told=False,
):
    """One reported use, counted once per meter and key (BIL-19)."""

    meter: Col[str] = col(sa.Text)
    key: Col[str] = col(sa.Text)
    quantity: Col[int] = col(sa.BigInteger)
    occurred_at: Col[datetime] = col(Instant)
    subject: Col[dict[str, str] | None] = col(pg.JSONB, nullable=True, default=None)
    operation: Col[Operation] = status(Operation, default=Operation.ADD)
    usage_month: Col[date] = col(sa.Date)
    late: Col[bool] = col(sa.Boolean, default=False)


class UsageDay(
    TenantRow,
    table="billing.usage_day",
    kind=Kind.PRIVATE,
    key=("organization_id", "meter", "operation", "day"),
    told=False,
):
    """The daily totals of a meter, kept after its records are deleted."""

    meter: Col[str] = col(sa.Text)
    operation: Col[Operation] = status(Operation, default=Operation.ADD)
    day: Col[date] = col(sa.Date)
    quantity: Col[int] = col(sa.BigInteger)
    records: Col[int] = col(sa.BigInteger)


class UsageTotal(
    TenantRow,
    table="billing.usage_total",
    kind=Kind.PRIVATE,
    key=("organization_id", "meter", "usage_month"),
    told=False,
):
    """The sum of the records of a meter and month, updated in their transaction.

    A meter that does not reset each month has one row, with the month `STANDING`.
    """

    meter: Col[str] = col(sa.Text)
    usage_month: Col[date] = col(sa.Date)
    quantity: Col[int] = col(sa.BigInteger, default=0)
    reserved: Col[int] = col(sa.BigInteger, default=0)
    reserved_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    told_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    billed_quantity: Col[int] = col(sa.BigInteger, default=0)


class UsageMonth(
    TenantRow,
    table="billing.usage_month",
    kind=Kind.PRIVATE,
    key=("organization_id", "usage_month"),
    told=False,
):
    """A usage month with its dates and terms (BIL-20).

    `terms` has the terms of each meter by quantity. A past month keeps them, whatever is bought
    later. After `billed_at` further usage of the month is late.
    """

    usage_month: Col[date] = col(sa.Date)
    begins_at: Col[datetime] = col(Instant)
    ends_at: Col[datetime] = col(Instant)
    terms: Col[dict[str, Any]] = col(pg.JSONB)
    spend_cap_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    ceiling_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    billed_minor: Col[int] = col(sa.BigInteger, default=0)
    billed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


STANDING = date(1970, 1, 1)


class Holding(TenantRow, table="billing.holding", kind=Kind.PRIVATE, told=False):
    """An open item that a gauge counts once, however often it is reported."""

    meter: Col[str] = col(sa.Text)
    subject: Col[str] = col(sa.Text)
    open: Col[bool] = col(sa.Boolean)
    changed_at: Col[datetime] = col(Instant)


class Reservation(TenantRow, table="billing.reservation", kind=Kind.PRIVATE):
    """Reserved usage that already counts against a hard limit (BIL-22)."""

    meter: Col[str] = col(sa.Text)
    key: Col[str] = col(sa.Text)
    usage_month: Col[date] = col(sa.Date)
    quantity: Col[int] = col(sa.BigInteger)
    settled_quantity: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    expires_at: Col[datetime] = col(Instant)
    status: Col[ReservationStatus] = status(ReservationStatus, default=ReservationStatus.HELD)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Threshold(TenantRow, table="billing.threshold", kind=Kind.PRIVATE, told=False):
    """A percentage of a limit that was reached in a month, published once (BIL-21)."""

    held_by: Col[UUID] = col(pg.UUID)  # the base subscription, or the account without one
    meter: Col[str] = col(sa.Text)
    usage_month: Col[date] = col(sa.Date)
    percent: Col[int] = col(sa.Integer)
