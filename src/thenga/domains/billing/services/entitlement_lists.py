"""All that is held, feature by feature, as people read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from thenga.domains.billing.public import EntitlementSignal
from thenga.domains.billing.services import (
    entitlement_sources,
    entitlements,
    signals,
    standing,
    usage_totals,
)
from thenga.domains.billing.services.entitlement_sets import Item
from thenga.domains.billing.services.entitlements import Held
from thenga.domains.billing.services.signals import Question
from thenga.domains.billing.tables import Access, Subscription
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound


@dataclass(frozen=True, slots=True)
class Line:
    """One feature with what a signal would say of one more use."""

    item: Item
    said: EntitlementSignal


@dataclass(frozen=True, slots=True)
class Listed:
    """A set as it is shown."""

    access: Access
    version: int
    as_of: datetime
    valid_until: datetime | None
    lines: list[Line]


async def whole(read: Reader) -> Listed:
    """The set of the organization."""
    held = await _held(read)
    return await _listed(read, held, held.set.items, held.set.access)


async def of_subscription(read: Reader, subscription_id: UUID) -> Listed:
    """What one subscription has a part in, at the level of its own standing."""
    subscription = await read.get(Subscription, subscription_id)
    held = await _held(read)
    given = await entitlement_sources.plan_entitlements(
        read, subscription.plan_code, subscription.plan_version
    )
    keys = {one.key for one in given}
    items = {key: item for key, item in held.set.items.items() if key in keys}
    failure = await standing.open_failure(read, subscription.id)
    return await _listed(read, held, items, standing.access(subscription, failure, read.now))


async def _held(read: Reader) -> Held:
    held = await entitlements.current(read)
    if held is None:
        raise NotFound("This organization has no billing account.")
    return held


async def _listed(read: Reader, held: Held, items: Mapping[str, Item], access: Access) -> Listed:
    totals = await usage_totals.of_month(read, held.usage_month)
    lines = []
    for feature in sorted(items):
        used = await usage_totals.counted(read, totals.get(feature), held.resets_at)
        asked = Question(feature)
        said = signals.signal(held.set, used, read.now, asked, sequence=held.version)
        lines.append(Line(items[feature], said))
    return Listed(access, held.version, held.as_of, held.set.valid_until, lines)
