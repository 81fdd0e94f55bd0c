"""Usage that costs money: what is above the included, once a meter and month (BIL-23)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sqlalchemy import select

from thenga.domains.billing.services import (
    configuration,
    entitlement_types,
    entitlements,
    overage,
    periods,
)
from thenga.domains.billing.services.entitlement_types import Metered
from thenga.domains.billing.services.entitlements import Held
from thenga.domains.billing.services.invoices import DraftLine, LineKind
from thenga.domains.billing.services.periods import Period
from thenga.domains.billing.tables import STANDING, EntitlementSet, Meter, Subscription, UsageTotal
from thenga.kernel.calendar import local_day
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.money import Money

_BILLED = """
    UPDATE billing.usage_total SET billed_quantity = billed_quantity + $5, billed_at = $1,
        updated_at = $1, version = version + 1
    WHERE organization_id = $2 AND meter = $3 AND usage_month = $4
"""
# A month that cost nothing is closed as well: what comes for it later is late (BIL-20).
_CLOSED = """
    UPDATE billing.usage_total SET billed_at = $1, updated_at = $1, version = version + 1
    WHERE organization_id = $2 AND usage_month > $3 AND usage_month < $4 AND billed_at IS NULL
        AND (unit_price IS NULL OR included IS NULL OR quantity <= included + billed_quantity)
"""


@dataclass(frozen=True, slots=True)
class Charge:
    """Units of a meter and month that are not billed yet."""

    meter: str
    month: Period
    count: int
    unit_price: Decimal
    billed: int
    late: bool

    @property
    def gross(self) -> Money:
        return overage.priced(self.count, self.unit_price)


async def lines(read: Reader, subscription: Subscription, month: Period) -> list[DraftLine]:
    """What the invoice at the end of this usage month takes; a little waits for a renewal."""
    held = await entitlements.current(read)
    if held is not None and held.subscription_id not in (None, subscription.id):
        return []  # the months of usage are those of the base, whatever day an add-on renews on
    charges = await _due(read, subscription, held, before=month.end)
    total = Money(sum(one.gross.minor for one in charges), "ZAR")
    renews = subscription.period_end is None or month.end >= subscription.period_end
    least = (await configuration.usage(read, local_day(read.now))).min_invoice
    if not total or overage.waits(total, least=least, renews=renews):
        return []
    units = {one.key: one.unit for one in await read.all(select(Meter))}
    return [_line(one, subscription, units[one.meter]) for one in charges if one.gross]


async def _due(
    read: Reader, subscription: Subscription, held: Held | None, *, before: date
) -> list[Charge]:
    """Every month that is over and has units that nobody has billed, the oldest first."""
    statement = select(UsageTotal).where(
        UsageTotal.usage_month > STANDING, UsageTotal.usage_month < before
    )
    ordered = statement.order_by(UsageTotal.usage_month, UsageTotal.meter)
    totals = await read.all(ordered, limit=1000)
    if not totals:
        return []  # most use nothing that is counted: their terms need not be looked up
    kept = await read.find(EntitlementSet)
    anchor = subscription.anchor_date or subscription.period_start or before
    charges = []
    for total in totals:
        included, price = _terms(total, kept, held)
        if price is None:
            continue
        count = overage.units(used=total.quantity, included=included, billed=total.billed_quantity)
        month = periods.usage_month(anchor, total.usage_month)
        over = Period(total.usage_month, min(month.end, before))
        late = total.billed_at is not None
        if count:
            charges.append(Charge(total.meter, over, count, price, total.billed_quantity, late))
    return charges


def _terms(
    total: UsageTotal, kept: EntitlementSet | None, held: Held | None
) -> tuple[int | None, Decimal | None]:
    """The terms at the end of the month: with the total once it is closed, else with the set."""
    if total.unit_price is not None:
        return total.included, total.unit_price
    if kept is not None and kept.usage_month == total.usage_month and total.meter in kept.items:
        one = entitlement_types.read([kept.items[total.meter]])[0]
    elif held is not None and total.meter in held.set.items:
        one = held.set.items[total.meter].entitlement
    else:
        return None, None
    if not isinstance(one, Metered) or one.mode == "hard":
        return None, None
    return one.included, one.overage_unit_price


def _line(charge: Charge, subscription: Subscription, unit: str) -> DraftLine:
    days = f"{charge.month.start} to {charge.month.end}"
    late = ", reported late" if charge.late else ""
    return DraftLine(
        kind=LineKind.LATE_USAGE if charge.late else LineKind.USAGE,
        description=f"{charge.meter}: {charge.count} {unit} above the plan, {days}{late}",
        quantity=charge.count,
        unit_price=overage.priced(1, charge.unit_price),
        gross=charge.gross,
        service=charge.month,
        subscription_id=subscription.id,
        plan_code=subscription.plan_code,
        plan_version=subscription.plan_version,
        key=f"usage:{charge.meter}:{charge.month.start}:{charge.billed}",
        unit_rate=charge.unit_price,
    )


async def billed(work: Work, lines: Sequence[DraftLine]) -> None:
    """Remember what these lines bill, so that no unit is billed twice."""
    for line in lines:
        if line.kind not in (LineKind.USAGE, LineKind.LATE_USAGE):
            continue
        meter, month = line.key.split(":")[1:3]
        here = (work.now, work.organization_id, meter, date.fromisoformat(month))
        await work.run(_BILLED, *here, line.quantity)
    await entitlements.follow(work, reason="usage_billed")  # keeps the terms of the month first
    held = await entitlements.current(work)
    if held is not None:
        await work.run(_CLOSED, work.now, work.organization_id, STANDING, held.usage_month)
