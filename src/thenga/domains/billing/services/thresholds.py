"""What a total crosses: thresholds are told once, a hard limit changes what is held (BIL-21)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import public
from thenga.domains.billing.services import configuration, entitlements
from thenga.domains.billing.services.entitlement_types import Limit, Metered
from thenga.domains.billing.services.entitlements import Held
from thenga.domains.billing.services.usage_totals import Moved
from thenga.domains.billing.tables import STANDING, Account, Threshold
from thenga.kernel.calendar import local_day
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


@dataclass(frozen=True, slots=True)
class Crossing:
    """So many per cent of a limit that a total has reached."""

    moved: Moved
    counted: Limit | Metered
    limit: int
    percent: int


@dataclass(frozen=True, slots=True)
class Watch:
    """By what moves are judged; read before a total is locked, because others wait for it."""

    held: Held
    percents: tuple[int, ...]
    has_ceiling: bool


async def watch(read: Reader, held: Held) -> Watch:
    """What is held, the thresholds in force, and whether the customer has set a ceiling."""
    policy = await configuration.usage(read, local_day(read.now))
    account = await read.find(Account)
    ceiling = account is not None and account.spend_cap_minor is not None
    return Watch(held, policy.thresholds, ceiling)


async def look(work: Work, moves: Sequence[Moved], by: Watch) -> None:
    """Tell what these moves crossed; the totals are locked, so nobody else crosses the same."""
    held = by.held
    counting = [
        (move, item.entitlement)
        for move in moves
        if move.usage_month in (held.usage_month, STANDING)
        and (item := held.set.items.get(move.meter)) is not None
        and isinstance(item.entitlement, Limit | Metered)
    ]
    if not any(one.limit is not None for _, one in counting):
        return
    crossed = [c for move, one in counting for c in crossings(move, one, by.percents)]
    await _tell(work, held, crossed)
    capped = by.has_ceiling and any(_is_over(move, one) for move, one in counting)
    if capped or any(_turns(move, one) for move, one in counting):
        await entitlements.follow(work, reason="usage")


def crossings(moved: Moved, one: Limit | Metered, percents: Sequence[int]) -> list[Crossing]:
    """The thresholds of a month that lie between before and after."""
    limit = one.limit
    if not limit or not isinstance(one, Metered):
        return []  # the first of one seat is no news
    return [
        Crossing(moved, one, limit, percent)
        for percent in percents
        if moved.before * 100 < limit * percent <= moved.after * 100
    ]


def _turns(moved: Moved, one: Limit | Metered) -> bool:
    """Whether a hard limit was reached or left."""
    if one.limit is None or one.mode == "soft":
        return False
    return (moved.before >= one.limit) != (moved.after >= one.limit)


def _is_over(moved: Moved, one: Limit | Metered) -> bool:
    """Whether this costs more or less, so that the ceiling may be reached or left."""
    most = max(moved.before, moved.after)
    return one.mode == "soft" and one.limit is not None and most > one.limit


async def _tell(work: Work, held: Held, crossed: Sequence[Crossing]) -> None:
    if not crossed:
        return
    holder = held.subscription_id or work.organization_id
    known = await _known(work, holder, {one.moved.usage_month for one in crossed})
    for one in crossed:
        named = (one.moved.meter, one.moved.usage_month, one.percent)
        if named in known:
            continue  # a larger plan and a smaller one again do not make it news
        row = await work.add(
            Threshold(
                organization_id=work.organization_id,
                held_by=holder,
                meter=one.moved.meter,
                usage_month=one.moved.usage_month,
                percent=one.percent,
            )
        )
        work.publish(
            public.UsageLimitReached(
                organization_id=work.organization_id,
                threshold_id=row.id,
                subscription_id=held.subscription_id,
                meter=one.moved.meter,
                threshold_pct=one.percent,
                used=one.moved.after,
                limit=one.limit,
                mode=one.counted.mode,
                resets_at=held.resets_at,
            )
        )


async def _known(work: Work, holder: UUID, months: set[date]) -> set[tuple[str, date, int]]:
    statement = select(Threshold).where(Threshold.held_by == holder)
    found = await work.all(statement.where(Threshold.usage_month >= min(months)))
    return {(one.meter, one.usage_month, one.percent) for one in found}
