"""Usage charges: overage per meter and month (BIL-23)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

from sqlalchemy import or_, select

from thenga.domains.billing import settings
from thenga.domains.billing.services import entitlements, metering, pricing
from thenga.domains.billing.services.invoicing import DraftLine, LineKind
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.tables import Meter, Subscription, UsageMonth, UsageTotal
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

# Older usage cannot be reported, so a billed month gets nothing new.
_REPORTED_FOR = timedelta(days=100)
_BILLED = """
    UPDATE billing.usage_total SET billed_quantity = billed_quantity + $5, updated_at = $1,
        version = version + 1
    WHERE organization_id = $2 AND meter = $3 AND usage_month = $4
"""


@dataclass(frozen=True, slots=True)
class Charge:
    """Unbilled units of a meter and month."""

    meter: str
    month: Period
    count: int
    unit_price: Decimal
    billed: int
    late: bool

    @property
    def gross(self) -> Money:
        return pricing.price_units(self.count, self.unit_price)


async def usage_lines(read: Reader, subscription: Subscription, month: Period) -> list[DraftLine]:
    """The lines for the invoice at the end of this usage month. Small amounts wait for a
    renewal."""
    held = await entitlements.current_set(read)
    if held is not None and held.subscription_id not in (None, subscription.id):
        return []  # usage months are those of the base plan, whatever day an add-on renews
    charges = await _due(read, before=month.end)
    total = Money(sum(charge.gross.minor for charge in charges), "ZAR")
    renews = subscription.period_end is None or month.end >= subscription.period_end
    least = (await configuration.value(read, settings.USAGE)).least
    if not total or pricing.is_below_minimum(total, least=least, renews=renews):
        return []
    return await _lines(read, subscription, charges)


async def unbilled_lines(read: Reader, subscription: Subscription) -> list[DraftLine]:
    """Lines for all unbilled usage of an ended plan, whatever the amount."""
    return await _lines(read, subscription, await _due(read, before=_tomorrow(read)))


async def is_usage_owed(read: Reader) -> bool:
    """Whether there is unbilled usage that costs money."""
    return any(charge.gross for charge in await _due(read, before=_tomorrow(read)))


def _tomorrow(read: Reader) -> date:
    return local_day(read.now) + timedelta(days=1)


async def _lines(
    read: Reader, subscription: Subscription, charges: Sequence[Charge]
) -> list[DraftLine]:
    units = {meter.key: meter.unit for meter in await read.all(select(Meter))} if charges else {}
    return [_line(charge, subscription, units[charge.meter]) for charge in charges if charge.gross]


async def _due(read: Reader, *, before: date) -> list[Charge]:
    """Unbilled charges by month, oldest first, each by its own terms."""
    months = await _open(read, before)
    if not months:
        return []
    totals = await _totals(read, months)
    return [charge for row in months.values() for charge in _of_month(row, totals, before=before)]


def _of_month(row: UsageMonth, totals: Sequence[UsageTotal], *, before: date) -> list[Charge]:
    """What a month still costs, up to its cap."""
    here = [total for total in totals if total.usage_month == row.usage_month]
    found = [charge for total in here for charge in _charges(total, row, before=before)]
    if row.ceiling_minor is None:
        return found
    left, kept = Money(row.ceiling_minor - row.billed_minor, "ZAR"), []
    for charge in found:
        fits = replace(
            charge, count=min(charge.count, pricing.units_affordable(left, charge.unit_price))
        )
        left -= fits.gross
        kept.append(fits)
    return kept


async def _open(read: Reader, before: date) -> dict[date, UsageMonth]:
    """The months that may have something to bill."""
    statement = select(UsageMonth).where(
        UsageMonth.usage_month < before,
        or_(UsageMonth.billed_at.is_(None), UsageMonth.ends_at > read.now - _REPORTED_FOR),
    )
    ordered = statement.order_by(UsageMonth.usage_month)
    return {row.usage_month: row for row in await read.all(ordered)}


async def _totals(read: Reader, months: Mapping[date, UsageMonth]) -> list[UsageTotal]:
    statement = select(UsageTotal).where(UsageTotal.usage_month >= min(months))
    ordered = statement.order_by(UsageTotal.usage_month, UsageTotal.meter)
    return [row for row in await read.all(ordered) if row.usage_month in months]


def _charges(total: UsageTotal, row: UsageMonth, *, before: date) -> list[Charge]:
    terms = metering.overage_terms_of(row, total.meter, None, total.quantity)
    days = metering.month_days(row)
    month = Period(days.start, min(days.end, before))
    late, billed, found = row.billed_at is not None, total.billed_quantity, []
    for count, price in pricing.overage_units(terms, used=total.quantity, billed=billed):
        found.append(Charge(total.meter, month, count, price, billed, late))
        billed += count
    return found


def _line(charge: Charge, subscription: Subscription, unit: str) -> DraftLine:
    days = f"{charge.month.start} to {charge.month.end - timedelta(days=1)}"
    late = ", reported late" if charge.late else ""
    return DraftLine(
        kind=LineKind.LATE_USAGE if charge.late else LineKind.USAGE,
        description=f"{charge.meter}: {charge.count} {unit} above the plan, {days}{late}",
        quantity=charge.count,
        unit_price=pricing.price_units(1, charge.unit_price),
        gross=charge.gross,
        service=charge.month,
        subscription_id=subscription.id,
        plan_code=subscription.plan_code,
        plan_version=subscription.plan_version,
        key=f"usage:{charge.meter}:{charge.month.start}:{charge.billed}",
        unit_rate=charge.unit_price,
    )


async def mark_billed(work: Work, lines: Sequence[DraftLine]) -> None:
    """Record what these lines bill, so that no unit is billed twice."""
    cost: dict[date, int] = {}
    for line in lines:
        if line.kind not in (LineKind.USAGE, LineKind.LATE_USAGE):
            continue
        meter, day = line.key.split(":")[1:3]
        month = date.fromisoformat(day)
        await work.run(_BILLED, work.now, work.organization_id, meter, month, line.quantity)
        cost[month] = cost.get(month, 0) + line.gross.minor
    await entitlements.refresh(work, reason="usage_billed")
    await _close(work, cost)


async def _close(work: Work, cost: Mapping[date, int]) -> None:
    """Record the cost of months. A past month with nothing left to bill is closed, so later usage
    in it is late."""
    for month, minor in cost.items():
        row = await work.lock_by(UsageMonth, usage_month=month)
        row.billed_minor += minor
        await work.save(row)
    months = await _open(work, _tomorrow(work))
    totals = await _totals(work, months) if months else []
    for month, row in months.items():
        owing = any(charge.gross for charge in _of_month(row, totals, before=date.max))
        if row.billed_at is None and row.ends_at <= work.now and not owing:
            held = await work.lock_by(UsageMonth, usage_month=month)
            held.billed_at = work.now
            await work.save(held)
