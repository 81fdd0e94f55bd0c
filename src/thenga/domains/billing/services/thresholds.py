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
from thenga.kernel.db.work import Work


@dataclass(frozen=True, slots=True)
class Crossing:
    """So many per cent of a limit that a total has reached."""

    moved: Moved
    counted: Limit | Metered
    limit: int
    percent: int


async def look(work: Work, moves: Sequence[Moved], held: Held | None) -> None:
    """Tell what these moves crossed; the totals are locked, so nobody else crosses the same."""
    if held is None:
        return
    counting = [
        (move, item.entitlement)
        for move in moves
        if move.usage_month in (held.usage_month, STANDING)
        and (item := held.set.items.get(move.meter)) is not None
        and isinstance(item.entitlement, Limit | Metered)
    ]
    if not any(one.limit is not None for _, one in counting):
        return
    percents = (await configuration.usage(work, local_day(work.now))).thresholds
    await _tell(work, held, [c for move, one in counting for c in crossings(move, one, percents)])
    if any(_turns(move, one) for move, one in counting) or await _caps(work, held, counting):
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


async def _caps(work: Work, held: Held, counting: Sequence[tuple[Moved, Limit | Metered]]) -> bool:
    """Whether overage may have reached the customer's ceiling, or it was reached before."""
    over = any(
        one.mode == "soft" and one.limit is not None and move.after > one.limit
        for move, one in counting
    )
    if not over:
        return False
    account = await work.find(Account)
    return account is not None and account.spend_cap_minor is not None


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
