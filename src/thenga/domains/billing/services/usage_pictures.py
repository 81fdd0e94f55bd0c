"""How a month of usage looks: what is left, what it costs, and where it is going."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.services import entitlements, overage, periods, usage_totals
from thenga.domains.billing.services.entitlement_types import Limit, Metered
from thenga.domains.billing.services.entitlements import Held
from thenga.domains.billing.services.periods import Period
from thenga.domains.billing.tables import Meter, MeterKind, Subscription, UsageTotal
from thenga.kernel.calendar import local_day
from thenga.kernel.db.reader import Reader
from thenga.kernel.money import Money

_WARNING_PCT, _WHOLE_PCT = 80, 100


class UseState(StrEnum):
    OK = "ok"
    WARNING = "warning"
    REACHED = "reached"
    EXCEEDED = "exceeded"


@dataclass(frozen=True, slots=True)
class Use:
    """One meter in a month; numbers of what does not begin anew are those of today."""

    meter: str
    kind: MeterKind
    unit: str
    used: int
    reserved: int
    limit: int | None
    overage: Money
    projected: int | None

    @property
    def remaining(self) -> int | None:
        return None if self.limit is None else max(0, self.limit - self.used - self.reserved)

    @property
    def percent(self) -> int | None:
        taken = self.used + self.reserved
        return taken * 100 // self.limit if self.limit else None

    @property
    def state(self) -> UseState:
        taken = self.used + self.reserved
        if self.limit is None or taken * 100 < self.limit * _WARNING_PCT or not taken:
            return UseState.OK
        if taken > self.limit:
            return UseState.EXCEEDED
        return UseState.REACHED if taken == self.limit else UseState.WARNING


@dataclass(frozen=True, slots=True)
class Picture:
    """The month that was asked for, meter by meter."""

    month: Period
    uses: list[Use]


async def of(read: Reader, subscription_id: UUID, day: date | None) -> Picture:
    """The usage of the month that a day belongs to, against what the organization holds."""
    subscription = await read.get(Subscription, subscription_id)
    held = await entitlements.current(read)
    anchor = subscription.anchor_date or subscription.period_start
    today = local_day(read.now)
    month = periods.usage_month(anchor or today, day or today)
    totals = await usage_totals.of_month(read, month.start)
    meters = await read.all(select(Meter).order_by(Meter.key))
    return Picture(month, [_use(meter, held, totals, month, today) for meter in meters])


def _use(
    meter: Meter, held: Held | None, totals: Mapping[str, UsageTotal], month: Period, today: date
) -> Use:
    total, item = totals.get(meter.key), held.set.items.get(meter.key) if held else None
    counted = item.entitlement if item else None
    limit = counted.limit if isinstance(counted, Limit | Metered) else None
    used = total.quantity if total else 0
    counter = meter.kind is MeterKind.COUNTER
    return Use(
        meter=meter.key,
        kind=meter.kind,
        unit=meter.unit,
        used=used,
        reserved=total.reserved if total else 0,
        limit=limit if item else 0,
        overage=_overage(counted, total, used),
        projected=_projected(used, month, today) if counter else None,
    )


def _overage(counted: object, total: UsageTotal | None, used: int) -> Money:
    included, price = None, None
    if isinstance(counted, Metered):
        included, price = counted.included, counted.overage_unit_price
    if total is not None and total.unit_price is not None:
        included, price = total.included, total.unit_price  # the terms at the end of the month
    if price is None:
        return Money(0, "ZAR")
    return overage.priced(overage.units(used=used, included=included, billed=0), price)


def _projected(used: int, month: Period, today: date) -> int:
    """Where the month ends if it goes on as it began; a month that is over is what it is."""
    if not month.start <= today < month.end:
        return used
    return used * month.days // ((today - month.start).days + 1)
