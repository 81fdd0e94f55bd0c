"""Usage thresholds: published once per holder and month (BIL-21)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import public
from thenga.domains.billing.services.catalogue import Limit, Metered
from thenga.domains.billing.services.metering.totals import Moved
from thenga.domains.billing.tables import Threshold
from thenga.kernel.db.work import Work
from thenga.kernel.values.ids import new_id

# Usage and a smaller limit can reach the same threshold at once; only the first is published.
_REACH = """
    INSERT INTO billing.threshold (id, created_at, updated_at, version, organization_id,
        held_by, meter, usage_month, percent)
    VALUES ($1, $2, $2, 0, $3, $4, $5, $6, $7)
    ON CONFLICT (organization_id, held_by, meter, usage_month, percent) DO NOTHING
    RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A percentage of a limit that a total has reached."""

    moved: Moved
    counted: Limit | Metered
    limit: int
    percent: int


def crossed_thresholds(
    moved: Moved, entitlement: Limit | Metered, percents: Sequence[int]
) -> list[Crossing]:
    """The thresholds between the totals before and after."""
    limit = entitlement.limit
    if not limit or not isinstance(entitlement, Metered):
        return []  # a limit of one is always fully used
    return [
        Crossing(moved, entitlement, limit, percent)
        for percent in percents
        if moved.before * 100 < limit * percent <= moved.after * 100
    ]


async def publish_crossed(
    work: Work,
    crossed: Sequence[Crossing],
    *,
    subscription_id: UUID | None,
    resets_at: datetime,
) -> None:
    """Publish crossed thresholds that were not published before."""
    if not crossed:
        return
    holder = subscription_id or work.organization_id
    known = await _known(work, holder, {crossing.moved.usage_month for crossing in crossed})
    for crossing in crossed:
        named = (crossing.moved.meter, crossing.moved.usage_month, crossing.percent)
        if named in known:
            continue  # an upgrade and a downgrade do not publish it again
        found = await work.query(_REACH, new_id(), work.now, work.organization_id, holder, *named)
        if not found:
            continue
        row = await work.touch(await work.lock(Threshold, found[0]["id"]))
        work.publish(
            public.UsageLimitReached(
                organization_id=work.organization_id,
                threshold_id=row.id,
                subscription_id=subscription_id,
                meter=crossing.moved.meter,
                threshold_pct=crossing.percent,
                used=crossing.moved.after,
                limit=crossing.limit,
                mode=crossing.counted.mode,
                resets_at=resets_at,
            )
        )


async def _known(work: Work, holder: UUID, months: set[date]) -> set[tuple[str, date, int]]:
    statement = select(Threshold).where(Threshold.held_by == holder)
    found = await work.all(statement.where(Threshold.usage_month >= min(months)))
    return {(threshold.meter, threshold.usage_month, threshold.percent) for threshold in found}
