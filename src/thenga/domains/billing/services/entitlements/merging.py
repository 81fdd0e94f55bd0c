"""Merges the sources of an organization's entitlements for any instant (BIL-3, BIL-45).

A set is a function of its sources and the time, and it says how long it stays the same. A stored
set is valid until then and recomputed afterwards, without waiting for a job.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from thenga.domains.billing.services import access
from thenga.domains.billing.services.catalogue import Boolean, Entitlement, Limit, Metered, Mode
from thenga.domains.billing.tables import Access


class Source(StrEnum):
    """Where an entitlement comes from."""

    PLAN = "plan"
    ADDON = "addon"
    TRIAL = "trial"
    GRANT = "grant"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one source gives, and from when to when (the end is excluded)."""

    source: Source
    entitlements: tuple[Entitlement, ...]
    from_at: datetime | None = None
    until: datetime | None = None

    def counts(self, now: datetime) -> bool:
        begun = self.from_at is None or self.from_at <= now
        return begun and (self.until is None or now < self.until)


@dataclass(frozen=True, slots=True)
class Item:
    """One merged entitlement."""

    entitlement: Entitlement
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class HeldSet:
    """The entitlements at an instant, and until when they stay the same."""

    items: dict[str, Item]
    access: Access
    because: str | None
    valid_until: datetime | None
    trial_ended: bool = False
    spend_capped: bool = False


_BASES = (Source.PLAN, Source.TRIAL)


def compute(
    contributions: Sequence[Contribution],
    fallback: Sequence[Entitlement],
    standing: Sequence[access.StandingStep],
    now: datetime,
    *,
    fallback_until: datetime | None = None,
) -> HeldSet:
    """The set at `now`. The fallback plan counts if no plan and no trial does."""
    counting = [contribution for contribution in contributions if contribution.counts(now)]
    based = any(contribution.source in _BASES for contribution in counting)
    if not based:
        free = Contribution(Source.FALLBACK, tuple(fallback), None, fallback_until)
        counting.append(free)
        contributions = [*contributions, free]
    reached = [step for step in standing if step.from_at <= now]
    step = max(reached, key=lambda step: step.from_at, default=None)
    trials = [contribution for contribution in contributions if contribution.source is Source.TRIAL]
    return HeldSet(
        items=merge(counting),
        # The organization has the access of its base subscription; the fallback plan's is full.
        access=step.access if step and based else Access.FULL,
        because=step.because if step and based else None,
        valid_until=_next_change(contributions, standing, now),
        trial_ended=not based
        and any(contribution.until and contribution.until <= now for contribution in trials),
    )


def _next_change(
    contributions: Iterable[Contribution], standing: Iterable[access.StandingStep], now: datetime
) -> datetime | None:
    edges = [
        edge
        for contribution in contributions
        for edge in (contribution.from_at, contribution.until)
    ]
    edges += [step.from_at for step in standing]
    return min((edge for edge in edges if edge is not None and edge > now), default=None)


def merge(contributions: Iterable[Contribution]) -> dict[str, Item]:
    """Merge several sources of one key: true wins, numbers add up, null wins, soft wins over
    hard."""
    merged: dict[str, Item] = {}
    for contribution in contributions:
        for entitlement in contribution.entitlements:
            known = merged.get(entitlement.key)
            if known is None:
                merged[entitlement.key] = Item(entitlement, (contribution.source,))
            else:
                together = join(known.entitlement, entitlement)
                sources = tuple(dict.fromkeys((*known.sources, contribution.source)))
                merged[entitlement.key] = Item(together, sources)
    return merged


def join(first: Entitlement, second: Entitlement) -> Entitlement:
    """Merge two entitlements of one key. The order does not matter."""
    match first, second:
        case Boolean(), Boolean():
            return replace(first, value=first.value or second.value)
        case Limit(), Limit():
            return replace(first, limit=_sum(first.limit, second.limit))
        case Metered(), Metered():
            return replace(
                first,
                included=_sum(first.included, second.included),
                mode=_softer(first.mode, second.mode),
                overage_unit_price=_lower(first.overage_unit_price, second.overage_unit_price),
            )
    raise TypeError(f"{first.key} is {first.type} in one source and {second.type} in another")


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _softer(first: Mode, second: Mode) -> Mode:
    return "soft" if "soft" in (first, second) else "hard"


def _lower(first: Decimal | None, second: Decimal | None) -> Decimal | None:
    """The lower overage price of two sources, because the customer has bought both."""
    prices = [price for price in (first, second) if price is not None]
    return min(prices, default=None)
