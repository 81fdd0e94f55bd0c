"""The entitlements an organization has now, stored and published when they change."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

import structlog

from thenga.domains.billing import public, settings
from thenga.domains.billing.services import catalogue, metering, pricing
from thenga.domains.billing.services.catalogue import Boolean, Limit, Metered
from thenga.domains.billing.services.entitlements import remedies, remedy_inputs, signals
from thenga.domains.billing.services.entitlements import sources as entitlement_sources
from thenga.domains.billing.services.entitlements.merging import HeldSet, Item, Source, compute
from thenga.domains.billing.services.entitlements.signals import Question
from thenga.domains.billing.services.entitlements.sources import Sources
from thenga.domains.billing.services.metering import Moved, UsageCalendar, Used
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.tables import STANDING, Account, EntitlementSet, Feature, UsageTotal
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

log = structlog.get_logger()

# The first writer inserts the row to lock; it is filled before it commits.
_BEGIN = """
    INSERT INTO billing.entitlement_set (id, created_at, updated_at, version, organization_id,
        as_of, items, access, trial_ended, spend_capped, anchor, usage_month, resets_at)
    VALUES ($1, $2, $2, 0, $3, $2, '{}', 'full', false, false, $4, $4, $2)
    ON CONFLICT (organization_id) DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class CurrentSet:
    """A set with the usage calendar that it counts by."""

    set: HeldSet
    version: int
    as_of: datetime
    anchor: date
    usage_month: date
    resets_at: datetime
    subscription_id: UUID | None
    turned_at: datetime | None = None  # when the stored set expired, if it has

    @property
    def month(self) -> Period:
        """The current usage month."""
        return Period(self.usage_month, local_day(self.resets_at))


async def current_set(read: Reader) -> CurrentSet | None:
    """The stored set, or a recomputed one if it is out of date (BIL-45)."""
    row = await read.find(EntitlementSet, organization_id=read.organization_id)
    if row is not None and (row.valid_until is None or read.now < row.valid_until):
        return _stored(row)
    sources = await entitlement_sources.of(read)
    if sources is None:
        return None
    held, _ = await _computed(read, sources)
    if row is None:
        return held
    return replace(held, version=row.version, turned_at=row.valid_until)


async def usage_calendar_of(read: Reader, held: CurrentSet, *, since: datetime) -> UsageCalendar:
    """The months that usage since then can belong to."""
    return await metering.usage_calendar(
        read, held.month, held.anchor, turned_at=held.turned_at, since=since
    )


async def signal(read: Reader, feature: str, quantity: int = 1) -> public.EntitlementSignal:
    """Whether one use is covered, and the remedy if it is not (BIL-46)."""
    return await _signal(read, await current_set(read), feature, quantity)


async def signal_many(read: Reader, features: list[str]) -> list[public.EntitlementSignal]:
    """As `signal`, for one use of each feature. The set is read once."""
    held = await current_set(read)
    return [await _signal(read, held, feature, 1) for feature in features]


async def _signal(
    read: Reader, held: CurrentSet | None, feature: str, quantity: int
) -> public.EntitlementSignal:
    item = held.set.items.get(feature) if held else None
    used = Used()
    if held and item and not isinstance(item.entitlement, Boolean):
        month = held.usage_month if isinstance(item.entitlement, Metered) else STANDING
        used = await metering.usage_now(read, feature, month, held.resets_at)
    known = item is not None or await _is_known(read, feature)
    asked = Question(feature, quantity, known)
    sequence = held.version if held else 0
    said = signals.signal(held.set if held else None, used, read.now, asked, sequence=sequence)
    if said.reason == "included":
        return said
    base, capped = (held.subscription_id, held.set.spend_capped) if held else (None, False)
    inputs = await remedy_inputs.gather(read, base, capped=capped)
    return remedies.with_remedy(said, used, asked, inputs)


async def _is_known(read: Reader, feature: str) -> bool:
    """Whether the feature is in the catalogue. An unknown one is a caller's defect: refuse it and
    raise an alarm (BIL-4)."""
    if await read.find(Feature, key=feature) is not None:
        return True
    log.error("billing.signal.unknown_feature", feature=feature)
    return False


async def is_up_to_date(read: Reader) -> bool:
    """Whether the stored set equals its sources. An expired set is not compared."""
    row = await read.find(EntitlementSet, organization_id=read.organization_id)
    if row is None or (row.valid_until is not None and row.valid_until <= read.now):
        return True
    sources = await entitlement_sources.of(read)
    if sources is None:
        return False
    held, _ = await _computed(read, sources)
    return held.set == _stored(row).set


async def refresh(work: Work, *, reason: str) -> None:
    """Recompute the stored set and publish what changed."""
    if await work.find(Account) is None:
        return
    await work.run(_BEGIN, new_id(), work.now, work.organization_id, STANDING)
    row = await work.lock_by(EntitlementSet)
    # Read under the lock: another transaction may have changed a source.
    sources = await entitlement_sources.of(work)
    assert sources is not None  # noqa: S101  # an account is never taken away
    held, totals = await _computed(work, sources)
    used = {meter: await _used(work, held, totals.get(meter)) for meter in held.set.items}
    items = {
        feature: _stored_item(item, used[feature], capped=held.set.spend_capped)
        for feature, item in held.set.items.items()
    }
    changes = _changes(row, items, used, held, reason)
    await metering.record_month(
        work, row, held.month, items, totals, sources.account.spend_cap_minor
    )
    await _publish_reached_limits(work, row, held, used)
    changed = bool(changes) or row.version == 0 or row.access != held.set.access
    _put(row, held, items)
    if not work.changes(row):
        return
    row.as_of = work.now
    await work.save(row)
    if changed:
        work.publish(
            public.EntitlementChanged(
                organization_id=row.organization_id,
                entitlement_set_id=row.id,
                set_version=row.version,
                access=row.access.value,
                changes=changes,
            )
        )


async def _publish_reached_limits(
    work: Work, before: EntitlementSet, held: CurrentSet, used: Mapping[str, Used]
) -> None:
    """Publish limits that are reached because they became smaller (BIL-21)."""
    moved = [
        (Moved(feature, held.usage_month, 0, used[feature].taken), item.entitlement)
        for feature, item in held.set.items.items()
        if isinstance(item.entitlement, Metered)
        and used[feature].taken
        and before.items.get(feature, {}).get("included") != item.entitlement.included
    ]
    if not moved:
        return
    percents = (await configuration.value(work, settings.USAGE)).thresholds
    crossed = [
        crossing
        for move, counted in moved
        for crossing in metering.crossed_thresholds(move, counted, percents)
    ]
    await metering.publish_crossed(
        work, crossed, subscription_id=held.subscription_id, resets_at=held.resets_at
    )


def _put(row: EntitlementSet, held: CurrentSet, items: dict[str, Any]) -> None:
    row.items, row.access, row.because = items, held.set.access, held.set.because
    row.trial_ended, row.spend_capped = held.set.trial_ended, held.set.spend_capped
    row.valid_until = row.next_check_at = held.set.valid_until
    row.subscription_id, row.anchor = held.subscription_id, held.anchor
    row.usage_month, row.resets_at = held.usage_month, held.resets_at


async def _computed(read: Reader, sources: Sources) -> tuple[CurrentSet, dict[str, UsageTotal]]:
    """The set from these sources now, with the totals of its month."""
    made = compute(
        *(sources.contributions, sources.fallback, sources.standing, read.now),
        fallback_until=sources.fallback_until,
    )
    month = pricing.usage_month(sources.anchor, local_day(read.now))
    totals = dict(await metering.totals_of_month(read, month.start))
    until = min(made.valid_until or month.ends_at, month.ends_at)
    cap_minor = sources.account.spend_cap_minor
    left = await _left(read, made, month.start, totals, cap_minor)
    held = CurrentSet(
        set=replace(made, valid_until=until, spend_capped=left is not None and left.minor <= 0),
        version=0,
        as_of=read.now,
        anchor=sources.anchor,
        usage_month=month.start,
        resets_at=month.ends_at,
        subscription_id=sources.base.id if sources.base else None,
    )
    return held, totals


async def remaining_spend_cap(read: Reader, held: CurrentSet) -> Money | None:
    """What the customer's spend cap still allows this month. None without a cap."""
    account = await read.find(Account)
    cap_minor = None if account is None else account.spend_cap_minor
    totals = await metering.totals_of_month(read, held.usage_month)
    return await _left(read, held.set, held.usage_month, totals, cap_minor)


async def _left(
    read: Reader,
    held: HeldSet,
    month: date,
    totals: Mapping[str, UsageTotal],
    cap_minor: int | None,
) -> Money | None:
    """The cap less the overage so far, including reserved usage (BIL-23)."""
    if cap_minor is None:
        return None
    row, cost = await metering.usage_month_on(read, month), Money(0, "ZAR")
    for feature, item in held.items.items():
        if not isinstance(item.entitlement, Metered) or feature not in totals:
            continue
        used = await metering.usage_of_total(read, totals[feature], None)
        cost += metering.overage_cost_of(row, feature, used.taken, _written(item))
    return Money(cap_minor, "ZAR") - cost


async def _used(read: Reader, held: CurrentSet, total: UsageTotal | None) -> Used:
    return await metering.usage_of_total(read, total, held.resets_at)


def _stored_item(item: Item, used: Used, *, capped: bool) -> dict[str, Any]:
    """One item as stored."""
    state = signals.state_of(item.entitlement, used, capped=capped)
    return _written(item) | {"state": state}


def _written(item: Item) -> dict[str, Any]:
    (written,) = catalogue.serialize_entitlements([item.entitlement])
    return written | {"sources": [source.value for source in item.sources]}


def _stored(row: EntitlementSet) -> CurrentSet:
    items = {
        feature: Item(
            catalogue.parse_entitlements([kept])[0],
            tuple(Source(name) for name in kept["sources"]),
        )
        for feature, kept in row.items.items()
    }
    made = HeldSet(
        items=items,
        access=row.access,
        because=row.because,
        valid_until=row.valid_until,
        trial_ended=row.trial_ended,
        spend_capped=row.spend_capped,
    )
    here = (row.anchor, row.usage_month, row.resets_at, row.subscription_id)
    return CurrentSet(made, row.version, row.as_of, *here)


def _changes(
    row: EntitlementSet, items: dict[str, Any], used: dict[str, Used], held: CurrentSet, reason: str
) -> list[public.FeatureChanged]:
    """The changed items. A change of source alone is not published."""
    before, changes = row.items, []
    for feature in sorted({*before, *items}):
        was, now = before.get(feature), items.get(feature)
        if _published_part(was) == _published_part(now):
            continue
        count = used.get(feature, Used())
        changes.append(
            public.FeatureChanged(
                feature=feature,
                before=_published_item(was, None, row.resets_at),
                after=_published_item(now, count.taken, held.resets_at),
                reason=reason,
            )
        )
    return changes


def _published_part(kept: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if kept is None else {n: v for n, v in kept.items() if n != "sources"}


def _published_item(
    kept: dict[str, Any] | None, used: int | None, resets_at: datetime
) -> public.EntitlementTold | None:
    if kept is None:
        return None
    (entitlement,) = catalogue.parse_entitlements([kept])
    counted = not isinstance(entitlement, Boolean)
    return public.EntitlementTold(
        state=kept["state"],
        value=entitlement.value if isinstance(entitlement, Boolean) else None,
        limit=entitlement.limit if isinstance(entitlement, Limit | Metered) else None,
        included=entitlement.included if isinstance(entitlement, Metered) else None,
        used=used if counted else None,
        mode=entitlement.mode if isinstance(entitlement, Limit | Metered) else None,
        resets_at=resets_at if isinstance(entitlement, Metered) else None,
    )
