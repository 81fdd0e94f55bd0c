"""The list of an organization's entitlements."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from thenga.domains.billing.public import EntitlementSignal
from thenga.domains.billing.services import access, metering
from thenga.domains.billing.services.entitlements import current, signals, sources
from thenga.domains.billing.services.entitlements.current import CurrentSet
from thenga.domains.billing.services.entitlements.merging import Item
from thenga.domains.billing.services.entitlements.signals import Question
from thenga.domains.billing.tables import Access, Subscription
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound


@dataclass(frozen=True, slots=True)
class ListedEntitlement:
    """One feature with the signal for one more use."""

    item: Item
    said: EntitlementSignal


@dataclass(frozen=True, slots=True)
class Listed:
    """A set as it is shown."""

    access: Access
    version: int
    as_of: datetime
    valid_until: datetime | None
    lines: list[ListedEntitlement]


async def list_entitlements(read: Reader) -> Listed:
    """The organization's entitlements."""
    held = await _current_set(read)
    return await _listed(read, held, held.set.items, held.set.access)


async def list_for_subscription(read: Reader, subscription_id: UUID) -> Listed:
    """The entitlements that one subscription contributes to, at its own access level."""
    subscription = await read.get(Subscription, subscription_id)
    held = await _current_set(read)
    given = await sources.plan_entitlements(read, subscription.plan_code, subscription.plan_version)
    keys = {entitlement.key for entitlement in given}
    items = {key: item for key, item in held.set.items.items() if key in keys}
    failure = await access.earliest_failure(read, subscription.id)
    return await _listed(read, held, items, access.access_level(subscription, failure, read.now))


async def _current_set(read: Reader) -> CurrentSet:
    held = await current.current_set(read)
    if held is None:
        raise NotFound("This organization has no billing account yet. Try again in a few seconds.")
    return held


async def _listed(
    read: Reader, held: CurrentSet, items: Mapping[str, Item], access: Access
) -> Listed:
    totals = await metering.totals_of_month(read, held.usage_month)
    lines = []
    for feature in sorted(items):
        used = await metering.usage_of_total(read, totals.get(feature), held.resets_at)
        asked = Question(feature)
        said = signals.signal(held.set, used, read.now, asked, sequence=held.version)
        lines.append(ListedEntitlement(items[feature], said))
    return Listed(access, held.version, held.as_of, held.set.valid_until, lines)
