"""The usage totals of a meter in a month (BIL-45)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import func, select

from thenga.domains.billing.tables import STANDING, Reservation, ReservationStatus, UsageTotal
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among_named
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id

# The largest total: far beyond real usage, and far enough below 2^63 that sums do not overflow.
# The statements of this module and of `usage.py` name the same number.
MOST = 10**15

_MOVE = """
    INSERT INTO billing.usage_total AS known (id, created_at, updated_at, version, organization_id,
        meter, usage_month, quantity, reserved, billed_quantity)
    VALUES ($1, $2, $2, 1, $3, $4, $5, greatest($6, 0), 0, 0)
    ON CONFLICT (organization_id, meter, usage_month) DO UPDATE
    SET quantity = least(greatest(least(known.quantity, 1000000000000000) + $6, 0),
            1000000000000000), updated_at = $2, version = known.version + 1
    RETURNING quantity + reserved AS taken
"""
_BEGIN = """
    INSERT INTO billing.usage_total (id, created_at, updated_at, version, organization_id,
        meter, usage_month, quantity, reserved, billed_quantity)
    VALUES ($1, $2, $2, 1, $3, $4, $5, 0, 0, 0)
    ON CONFLICT (organization_id, meter, usage_month) DO NOTHING
"""
# The newest number by event time wins; an older one that arrives late changes nothing.
_TELL = """
    INSERT INTO billing.usage_total AS known (id, created_at, updated_at, version, organization_id,
        meter, usage_month, quantity, reserved, billed_quantity, told_at)
    VALUES ($1, $2, $2, 1, $3, $4, $5, $6, 0, 0, $7)
    ON CONFLICT (organization_id, meter, usage_month) DO UPDATE
    SET quantity = $6, told_at = $7, updated_at = $2, version = known.version + 1
    WHERE known.told_at IS NULL OR known.told_at <= $7
    RETURNING quantity
"""

_OF_MONTHS = select(UsageTotal).where(among_named(UsageTotal.__table__.c.usage_month, "months"))


@dataclass(frozen=True, slots=True)
class Used:
    """What counts against a limit: used and reserved quantity, and when it resets."""

    quantity: int = 0
    reserved: int = 0
    resets_at: datetime | None = None

    @property
    def taken(self) -> int:
        return self.quantity + self.reserved


@dataclass(frozen=True, slots=True)
class Moved:
    """A total before and after. Reserved quantity counts as used."""

    meter: str
    usage_month: date
    before: int
    after: int


async def usage_now(read: Reader, meter: str, month: date, resets_at: datetime | None) -> Used:
    """What counts against a limit now, from one row."""
    return await usage_of_total(read, await of(read, meter, month), resets_at)


async def of(read: Reader, meter: str, month: date) -> UsageTotal | None:
    """The total of a meter and month, or of `STANDING` for meters that never reset."""
    return await read.find(UsageTotal, meter=meter, usage_month=month)


async def totals_of_month(read: Reader, month: date) -> Mapping[str, UsageTotal]:
    """All totals of a month and all standing ones, by meter."""
    found = await read.select_prepared(_OF_MONTHS, months=[month, STANDING])
    return {total.meter: total for total in found}


async def usage_of_total(
    read: Reader, total: UsageTotal | None, resets_at: datetime | None
) -> Used:
    """What counts against a limit, from a total that was already read."""
    if total is None:
        return Used(resets_at=resets_at)
    return Used(total.quantity, await _reserved(read, total), resets_at)


async def _reserved(read: Reader, total: UsageTotal) -> int:
    """The reserved quantity without expired reservations, before the job releases them (BIL-22)."""
    if not total.reserved or total.reserved_until is None or read.now < total.reserved_until:
        return total.reserved
    held = await read.value(
        select(func.coalesce(func.sum(Reservation.quantity), 0)).where(
            Reservation.organization_id == total.organization_id,
            Reservation.meter == total.meter,
            Reservation.usage_month == total.usage_month,
            Reservation.status == ReservationStatus.HELD,
            Reservation.expires_at > read.now,
        )
    )
    return int(held or 0)


async def ensure_total(work: Work, meter: str, month: date) -> None:
    """Make sure there is a row to update."""
    await work.run(_BEGIN, new_id(), work.now, work.organization_id, meter, month)


async def add_usage(work: Work, meter: str, month: date, by: int) -> Moved:
    """Add to a total, or subtract from it."""
    found = await work.query(_MOVE, new_id(), work.now, work.organization_id, meter, month, by)
    after = int(found[0]["taken"])
    return Moved(meter, month, after - by, after)


async def set_gauge(work: Work, meter: str, number: int, *, counted_at: datetime) -> Moved | None:
    """Store a number that another domain counted. None if a newer one is known (BIL-24)."""
    known = await of(work, meter, STANDING)
    before = known.quantity if known else 0
    here = (new_id(), work.now, work.organization_id, meter, STANDING)
    found = await work.query(_TELL, *here, number, counted_at)
    return Moved(meter, STANDING, before, number) if found else None
