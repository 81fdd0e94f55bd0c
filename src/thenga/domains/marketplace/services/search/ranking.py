"""The rank of a listing among the hits of a search (MKT-14). Values in, score out.

Payment, price and ratings are no factors.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from thenga.domains.marketplace.services.weighing import (
    ServiceLevel,
    Weighed,
    combine,
    place_factor,
    trust_factor,
)
from thenga.domains.marketplace.values.factors import Score
from thenga.domains.supplier.public import TrustLevel

VERSION = 1
WEIGHTS = {"text": 50, "verification": 20, "trust": 15, "place": 10, "fresh": 5}
LEVELS = 3  # levels of verification
FRESH_DAYS, STALE_DAYS = 30, 365
_LEVEL_WHY = (
    "Nothing of the provider is verified.",
    "The registration number is verified.",
    "The registration number and a capability are verified.",
    "The registration number and a capability in this category are verified.",
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """What the rank of one listing rests on; None where the factor does not apply."""

    text: Decimal | None  # rank of the words that the database states
    level: int
    trust: TrustLevel | None
    place: ServiceLevel | None
    confirmed_at: datetime


def rank(listing: Ranked, now: datetime) -> Score:
    """The score of a listing with its factors."""
    weighed = []
    if listing.text is not None:
        value = listing.text / (listing.text + 1)
        weighed.append(Weighed("text", WEIGHTS["text"], value, "How well the words match."))
    level = Decimal(listing.level) / LEVELS
    why = _LEVEL_WHY[listing.level]
    weighed.append(Weighed("verification", WEIGHTS["verification"], level, why))
    weighed.append(trust_factor(WEIGHTS["trust"], listing.trust))
    if listing.place is not None:
        weighed.append(place_factor(WEIGHTS["place"], listing.place))
    days = max((now - listing.confirmed_at).days, 0)
    why = f"Confirmed {days} days ago."
    weighed.append(Weighed("fresh", WEIGHTS["fresh"], freshness(days), why))
    return combine(weighed)


def freshness(days: int) -> Decimal:
    """1 for so many days after the listing was confirmed, then falling to 0 within a year."""
    left = Decimal(STALE_DAYS - days) / (STALE_DAYS - FRESH_DAYS)
    return min(max(left, Decimal(0)), Decimal(1))
