"""Past usage months with their dates and terms (BIL-6, BIL-20, BIL-23).

Usage counts in the month it happened and is billed by the terms of that time, whatever is bought,
granted or re-anchored later. Rows are written under the lock of the entitlement set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select

from thenga.domains.billing.services import pricing
from thenga.domains.billing.services.pricing import OverageTerms, Period
from thenga.domains.billing.tables import (
    STANDING,
    EntitlementSet,
    FeatureType,
    UsageMonth,
    UsageTotal,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_SINCE = (
    select(UsageMonth)
    .where(UsageMonth.ends_at > bindparam("since"))
    .order_by(UsageMonth.begins_at.desc())
)
_NOTHING = {"included": 0, "unitPrice": None}


class Span(NamedTuple):
    """Usage from `begins` until before `ends` counts in this month."""

    begins: datetime
    ends: datetime
    month: date


@dataclass(frozen=True, slots=True)
class UsageCalendar:
    """The months that recent usage can belong to, newest first."""

    anchor: date
    spans: Sequence[Span]

    def month_of(self, at: datetime) -> date:
        """The month of an instant. Before the oldest known month it is computed backwards."""
        for span in self.spans:
            if span.begins <= at < span.ends:
                return span.month
        oldest = self.spans[-1].month
        regular = pricing.usage_month(self.anchor, oldest).start == oldest
        return pricing.usage_month(self.anchor if regular else oldest, local_day(at)).start


async def usage_calendar(
    read: Reader, running: Period, anchor: date, *, turned_at: datetime | None, since: datetime
) -> UsageCalendar:
    """The stored months, the current month and the next."""
    rows = await read.select_prepared(_SINCE, since=since)
    found = [Span(row.begins_at, row.ends_at, row.usage_month) for row in rows]
    if running.start not in {span.month for span in found}:
        begins = max(turned_at or running.starts_at, running.starts_at)
        found.insert(0, Span(begins, running.ends_at, running.start))
    then = pricing.usage_month(anchor, running.end)
    return UsageCalendar(anchor, [Span(running.ends_at, then.ends_at, then.start), *found])


async def usage_month_on(read: Reader, month: date) -> UsageMonth | None:
    """The month that starts on this day, if there was one."""
    return await read.find(UsageMonth, usage_month=month)


def overage_terms_of(
    row: UsageMonth | None, meter: str, held: Mapping[str, Any] | None, used: int
) -> list[OverageTerms]:
    """The terms of a meter in a month: as stored, plus the current ones for the current month."""
    kept: list[dict[str, Any]] = row.terms.get(meter, []) if row is not None else []
    if held is not None:
        kept = _with(kept, _priced(held), used)
    return [_read(document) for document in kept]


def _read(document: Mapping[str, Any]) -> OverageTerms:
    price = document["unitPrice"]
    return OverageTerms(
        document["from"], document["included"], None if price is None else Decimal(price)
    )


def _priced(item: Mapping[str, Any]) -> dict[str, Any]:
    """The terms of an item. A trial costs nothing, and a hard limit has no overage."""
    free = item["mode"] == "hard" or "trial" in item["sources"]
    price = None if free else item["overageUnitPrice"]
    return {"included": item["included"], "unitPrice": price}


def _with(kept: list[dict[str, Any]], now: dict[str, Any], used: int) -> list[dict[str, Any]]:
    if kept and {name: kept[-1][name] for name in now} == now:
        return kept
    return [*kept, {"from": used if kept else 0} | now]


def _metered(items: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The terms of every counter of a set, including those without a price."""
    return {
        key: _priced(item)
        for key, item in items.items()
        if FeatureType(item["type"]) is FeatureType.METERED
    }


async def record_month(
    work: Work,
    before: EntitlementSet,
    running: Period,
    items: Mapping[str, Any],
    totals: Mapping[str, UsageTotal],
    cap_minor: int | None,
) -> None:
    """Store the terms of the current month. Past months keep theirs."""
    turned = _turned_at(before, running, work.now)
    if before.usage_month not in (running.start, STANDING):
        await _close(work, before, running, turned, cap_minor)
    if await usage_month_on(work, running.start) is None:
        await _add(work, running, turned, items, cap_minor)
        return
    row = await work.lock_by(UsageMonth, usage_month=running.start)
    held = _metered(items)
    if row.spend_cap_minor != cap_minor:
        row.ceiling_minor = _ceiling(row, totals, cap_minor)
        row.spend_cap_minor = cap_minor
    row.ends_at, row.billed_at = running.ends_at, None
    row.terms = {
        meter: _with(row.terms.get(meter, []), held.get(meter, _NOTHING), _used(totals, meter))
        for meter in {*row.terms, *held}
    }
    await work.save(row)


def _ceiling(
    row: UsageMonth, totals: Mapping[str, UsageTotal], cap_minor: int | None
) -> int | None:
    """The most a month can cost under a new cap. Overage before the cap stays due."""
    if cap_minor is None:
        return None
    over = sum(overage_cost_of(row, meter, _used(totals, meter)).minor for meter in row.terms)
    owed = over if row.ceiling_minor is None else min(over, row.ceiling_minor)
    return max(cap_minor, owed)


def overage_cost_of(
    row: UsageMonth | None, meter: str, used: int, held: Mapping[str, Any] | None = None
) -> Money:
    """The cost of a month's overage, billed or not."""
    return pricing.overage_cost(
        pricing.overage_units(overage_terms_of(row, meter, held, used), used=used, billed=0)
    )


def _used(totals: Mapping[str, UsageTotal], meter: str) -> int:
    total = totals.get(meter)
    return 0 if total is None else total.quantity


def _turned_at(before: EntitlementSet, running: Period, now: datetime) -> datetime:
    """When the current month started: at its own date if time turned it, otherwise now."""
    if before.version == 0 or before.usage_month == running.start:
        return running.starts_at
    over = before.valid_until
    return max(over if over is not None and over <= now else now, running.starts_at)


async def _close(
    work: Work, before: EntitlementSet, running: Period, turned: datetime, cap_minor: int | None
) -> None:
    """End the previous month. Months without any activity since had the same terms."""
    if await usage_month_on(work, before.usage_month) is None:
        first = Period(before.usage_month, local_day(before.resets_at))
        await _add(work, first, first.starts_at, before.items, cap_minor)
    row = await work.lock_by(UsageMonth, usage_month=before.usage_month)
    row.ends_at = min(row.ends_at, turned)
    await work.save(row)
    begins = before.resets_at
    while begins < turned:
        passed = pricing.usage_month(before.anchor, local_day(begins))
        if passed.start == running.start:
            break
        if await usage_month_on(work, passed.start) is None:
            await _add(work, passed, begins, before.items, cap_minor)
        begins = passed.ends_at


async def _add(
    work: Work,
    month: Period,
    begins: datetime,
    items: Mapping[str, Any],
    cap_minor: int | None,
) -> None:
    await work.add(
        UsageMonth(
            organization_id=work.organization_id,
            usage_month=month.start,
            begins_at=begins,
            ends_at=month.ends_at,
            terms={meter: _with([], terms, 0) for meter, terms in _metered(items).items()},
            spend_cap_minor=cap_minor,
            ceiling_minor=cap_minor,
        )
    )


def month_days(row: UsageMonth) -> Period:
    """The local days of a month. A month cut short on its first day has that day."""
    return Period(row.usage_month, max(local_day(row.ends_at), row.usage_month + timedelta(days=1)))
