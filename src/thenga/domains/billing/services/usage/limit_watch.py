"""Limits that a total crosses: thresholds are published, hard limits change entitlements
(BIL-21)."""

from collections.abc import Sequence
from dataclasses import dataclass

from thenga.domains.billing import settings
from thenga.domains.billing.services import entitlements, metering
from thenga.domains.billing.services.catalogue import Limit, Metered
from thenga.domains.billing.services.entitlements import CurrentSet
from thenga.domains.billing.services.metering import Moved
from thenga.domains.billing.tables import STANDING, Account
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


@dataclass(frozen=True, slots=True)
class Watch:
    """What changes of totals are compared with. Read before a total is locked."""

    held: CurrentSet
    percents: tuple[int, ...]
    has_ceiling: bool


async def watch(read: Reader, held: CurrentSet) -> Watch:
    """The current set, the thresholds, and whether there is a spend cap."""
    policy = await configuration.value(read, settings.USAGE)
    account = await read.find(Account)
    ceiling = account is not None and account.spend_cap_minor is not None
    return Watch(held, policy.thresholds, ceiling)


async def publish_crossings(work: Work, moves: Sequence[Moved], by: Watch) -> None:
    """Publish the crossed thresholds. The totals are locked, so each is published once."""
    held = by.held
    counting = [
        (move, item.entitlement)
        for move in moves
        if move.usage_month in (held.usage_month, STANDING)
        and (item := held.set.items.get(move.meter)) is not None
        and isinstance(item.entitlement, Limit | Metered)
    ]
    if not any(entitlement.limit is not None for _, entitlement in counting):
        return
    capped = by.has_ceiling and any(_is_over(move, entitlement) for move, entitlement in counting)
    if capped or any(_turns(move, entitlement) for move, entitlement in counting):
        await entitlements.refresh(work, reason="usage")
    # The set is locked before, as for a change of limits, so there is no deadlock.
    crossed = [
        c
        for move, entitlement in counting
        for c in metering.crossed_thresholds(move, entitlement, by.percents)
    ]
    await metering.publish_crossed(
        work, crossed, subscription_id=held.subscription_id, resets_at=held.resets_at
    )


def _turns(moved: Moved, entitlement: Limit | Metered) -> bool:
    """Whether a hard limit was reached or left."""
    if entitlement.limit is None or entitlement.mode == "soft":
        return False
    return (moved.before >= entitlement.limit) != (moved.after >= entitlement.limit)


def _is_over(moved: Moved, entitlement: Limit | Metered) -> bool:
    """Whether the overage changed, so the spend cap may be reached or left."""
    most = max(moved.before, moved.after)
    return entitlement.mode == "soft" and entitlement.limit is not None and most > entitlement.limit
