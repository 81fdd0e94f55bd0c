"""What a total crosses: thresholds are told once, a hard limit changes what is held (BIL-21)."""

from collections.abc import Sequence
from dataclasses import dataclass

from thenga.domains.billing import settings
from thenga.domains.billing.services import entitlements, metering
from thenga.domains.billing.services.catalogue import Limit, Metered
from thenga.domains.billing.services.entitlements import CurrentSet
from thenga.domains.billing.services.metering import Moved
from thenga.domains.billing.tables import STANDING, Account
from thenga.kernel import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


@dataclass(frozen=True, slots=True)
class Watch:
    """By what moves are judged; read before a total is locked, because others wait for it."""

    held: CurrentSet
    percents: tuple[int, ...]
    has_ceiling: bool


async def watch(read: Reader, held: CurrentSet) -> Watch:
    """What is held, the thresholds in force, and whether the customer has set a ceiling."""
    policy = await configuration.value(read, settings.USAGE)
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
    capped = by.has_ceiling and any(_is_over(move, one) for move, one in counting)
    if capped or any(_turns(move, one) for move, one in counting):
        await entitlements.refresh(work, reason="usage")
    # After the set, as whoever changes a limit does, so that nobody waits in a circle.
    crossed = [
        c for move, one in counting for c in metering.crossed_thresholds(move, one, by.percents)
    ]
    await metering.publish_crossed(
        work, crossed, subscription_id=held.subscription_id, resets_at=held.resets_at
    )


def _turns(moved: Moved, one: Limit | Metered) -> bool:
    """Whether a hard limit was reached or left."""
    if one.limit is None or one.mode == "soft":
        return False
    return (moved.before >= one.limit) != (moved.after >= one.limit)


def _is_over(moved: Moved, one: Limit | Metered) -> bool:
    """Whether this costs more or less, so that the ceiling may be reached or left."""
    most = max(moved.before, moved.after)
    return one.mode == "soft" and one.limit is not None and most > one.limit
