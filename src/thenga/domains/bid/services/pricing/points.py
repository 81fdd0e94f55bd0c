"""Preference points by the formulas of the 2022 Regulations (BID-34).

Points for price are kept exact, and the total is rounded once. A price far above the lowest one
scores below zero unless the operator clamps it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from thenga.domains.bid.services.pricing.arithmetic import rounded
from thenga.kernel.values.money import Money

System = Literal["80_20", "90_10"]
Contract = Literal["purchase", "income"]
Tie = Literal["goals", "functionality", "lots"]

WEIGHTS: dict[System, int] = {"80_20": 80, "90_10": 90}


@dataclass(frozen=True, slots=True)
class Offer:
    """One tender as it is scored: all taxes included, less unconditional discounts."""

    key: str
    price: Money
    goals_8020: Decimal
    goals_9010: Decimal
    functionality: Decimal | None = None
    acceptable: bool = True

    def goals(self, system: System) -> Decimal:
        return self.goals_8020 if system == "80_20" else self.goals_9010


@dataclass(frozen=True, slots=True)
class Score:
    """Points of one acceptable offer; `tie` says what decided between equal totals."""

    key: str
    price_points: Decimal
    goals: Decimal
    total: Decimal
    rank: int
    tie: Tie | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Who would stand where, by the offers that are known."""

    system: System
    reference: Money
    scores: tuple[Score, ...]


def system_for(stated: str, reference: Money, threshold: Decimal) -> System:
    """The system that the tender states; undecided, the price of the best acceptable offer decides:
    up to and including the threshold 80/20."""
    if stated == "80_20":
        return "80_20"
    if stated == "90_10":
        return "90_10"
    return "80_20" if reference <= Money.of(f"{threshold:.2f}") else "90_10"


def price_points(price: Money, *, reference: Money, weight: int, contract: Contract) -> Fraction:
    """Points for price, exact. A tender that earns income is scored from the highest price down."""
    distance = Fraction(price.minor - reference.minor, reference.minor)
    return weight * (1 - distance if contract == "purchase" else 1 + distance)


def rank(
    offers: Sequence[Offer],
    *,
    system: str,
    contract: Contract,
    threshold: Decimal,
    clamp_at_zero: bool = False,
) -> Ranking | None:
    """Rank the acceptable offers; None where there is none, or the best price is nothing."""
    prices = [offer.price for offer in offers if offer.acceptable]
    reference = (min if contract == "purchase" else max)(prices, default=None)
    if reference is None or reference.minor <= 0:
        return None
    used = system_for(system, reference, threshold)
    scored = []
    for offer in offers:
        if offer.acceptable:
            exact = price_points(
                offer.price, reference=reference, weight=WEIGHTS[used], contract=contract
            )
            scored.append((offer, max(exact, Fraction(0)) if clamp_at_zero else exact))
    return Ranking(used, reference, _in_order(scored, used))


def _in_order(scored: Sequence[tuple[Offer, Fraction]], system: System) -> tuple[Score, ...]:
    def standing(pair: tuple[Offer, Fraction]) -> tuple[Decimal, Decimal, Decimal]:
        offer, exact = pair
        return _total(offer, exact, system), offer.goals(system), offer.functionality or Decimal(0)

    in_order = sorted(scored, key=standing, reverse=True)
    standings = [standing(pair) for pair in in_order]
    return tuple(
        Score(
            key=offer.key,
            price_points=rounded(exact, 2),
            goals=offer.goals(system),
            total=standings[place][0],
            rank=standings.index(standings[place]) + 1,
            tie=_tie(standings, place),
        )
        for place, (offer, exact) in enumerate(in_order)
    )


def _total(offer: Offer, exact: Fraction, system: System) -> Decimal:
    return rounded(exact + Fraction(offer.goals(system)), 2)


def _tie(standings: Sequence[tuple[Decimal, Decimal, Decimal]], place: int) -> Tie | None:
    total, goals, functionality = standings[place]
    equal = [one for other, one in enumerate(standings) if other != place and one[0] == total]
    if not equal:
        return None
    if any(one[1:] == (goals, functionality) for one in equal):
        return "lots"
    return "functionality" if any(one[1] == goals for one in equal) else "goals"
