"""The usage summary of a month: what is left, what it costs, where it is heading."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.services import entitlements, metering, pricing
from thenga.domains.billing.services.catalogue import Limit, Metered
from thenga.domains.billing.services.entitlements import CurrentSet
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.tables import Meter, MeterKind, Subscription, UsageMonth, UsageTotal
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money

_WARNING_PCT = 80


class UsageState(StrEnum):
    """How close usage is to its limit."""

    OK = "ok"
    WARNING = "warning"
    REACHED = "reached"
    EXCEEDED = "exceeded"


@dataclass(frozen=True, slots=True)
class MeterUsage:
    """One meter in a month. Meters that do not reset show today's number."""

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
    def state(self) -> UsageState:
        taken = self.used + self.reserved
        if self.limit is None or taken * 100 < self.limit * _WARNING_PCT or not taken:
            return UsageState.OK
        if taken > self.limit:
            return UsageState.EXCEEDED
        return UsageState.REACHED if taken == self.limit else UsageState.WARNING


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """The requested month, by meter."""

    month: Period
    uses: list[MeterUsage]


async def summarize(read: Reader, subscription_id: UUID, day: date | None) -> UsageSummary:
    """The usage of the month of a day, against the organization's entitlements."""
    await read.get(Subscription, subscription_id)
    held = await entitlements.current_set(read)
    today = local_day(read.now)
    month, row = await _month(read, held, day or today)
    totals = await metering.totals_of_month(read, month.start)
    meters = await read.all(select(Meter).order_by(Meter.key))
    shown = _Shown(month, row, held)
    return UsageSummary(month, [_use(meter, shown, totals, today) for meter in meters])


@dataclass(frozen=True, slots=True)
class _Shown:
    month: Period
    row: UsageMonth | None
    held: CurrentSet | None


async def _month(
    read: Reader, held: CurrentSet | None, day: date
) -> tuple[Period, UsageMonth | None]:
    """The organization's usage month at the end of a day, past or future."""
    if held is None or day >= held.month.end:
        anchor = held.anchor if held else local_day(read.now)
        return pricing.usage_month(anchor, day), None
    ends = local_midnight(day + timedelta(days=1)) - datetime.resolution
    at = min(ends, max(read.now, local_midnight(day)))
    start = (await entitlements.usage_calendar_of(read, held, since=at)).month_of(at)
    row = await metering.usage_month_on(read, start)
    return pricing.usage_month(start, start) if row is None else metering.month_days(row), row


def _use(meter: Meter, shown: _Shown, totals: Mapping[str, UsageTotal], today: date) -> MeterUsage:
    held, total = shown.held, totals.get(meter.key)
    item = held.set.items.get(meter.key) if held else None
    counted = item.entitlement if item else None
    limit = counted.limit if isinstance(counted, Limit | Metered) else None
    used = total.quantity if total else 0
    counter = meter.kind is MeterKind.COUNTER
    return MeterUsage(
        meter=meter.key,
        kind=meter.kind,
        unit=meter.unit,
        used=used,
        reserved=total.reserved if total else 0,
        limit=limit if item else 0,
        overage=_overage(shown.row, meter.key, used),
        projected=_projected(used, shown.month, today) if counter else None,
    )


def _overage(row: UsageMonth | None, meter: str, used: int) -> Money:
    """The cost of the overage by the terms of its month, up to the cap."""
    cost = metering.overage_cost_of(row, meter, used)
    if row is None or row.ceiling_minor is None:
        return cost
    return min(cost, Money(row.ceiling_minor, cost.currency))


def _projected(used: int, month: Period, today: date) -> int:
    """The projected usage at the end of the month. A past month has its actual usage."""
    if not month.start <= today < month.end:
        return used
    return used * month.days // ((today - month.start).days + 1)
