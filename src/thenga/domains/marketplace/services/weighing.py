"""What search and matching have in common: factors, weights, and how far a provider is trusted.

Values in, score out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from thenga.domains.marketplace.values.factors import Factor, Score
from thenga.domains.supplier.public import TrustLevel

ServiceLevel = Literal["municipality", "province", "national", "none"]

_POINT, _TENTH = Decimal("0.0001"), Decimal("0.1")

# A provider without a state is judged as one that nobody has rated.
TRUST: dict[TrustLevel | None, Decimal] = {
    "trusted": Decimal(1),
    "provisional": Decimal("0.6"),
    "unrated": Decimal("0.5"),
    None: Decimal("0.5"),
    "watch": Decimal("0.2"),
    "restricted": Decimal(0),
    "blocked": Decimal(0),
}
PLACE: dict[ServiceLevel, Decimal] = {
    "municipality": Decimal(1),
    "province": Decimal("0.8"),
    "national": Decimal("0.6"),
    "none": Decimal(0),
}
_PLACE_WHY: dict[ServiceLevel, str] = {
    "municipality": "Delivers in this municipality.",
    "province": "Delivers in this province.",
    "national": "Delivers in all provinces.",
    "none": "Names no place there.",
}


@dataclass(frozen=True, slots=True)
class Weighed:
    """A factor before its share of the score is known."""

    key: str
    weight: int
    value: Decimal
    why: str


def combine(weighed: Sequence[Weighed]) -> Score:
    """The weighted mean of the factors that apply, rounded half-up to one place."""
    whole = sum(factor.weight for factor in weighed)
    factors = [
        Factor(
            key=factor.key,
            weight=factor.weight,
            value=factor.value.quantize(_POINT, ROUND_HALF_UP),
            points=(100 * factor.weight * factor.value / whole).quantize(_POINT, ROUND_HALF_UP),
            why=factor.why,
        )
        for factor in weighed
    ]
    total = sum((factor.points for factor in factors), Decimal(0))
    return Score(score=total.quantize(_TENTH, ROUND_HALF_UP), factors=factors)


def trust_factor(weight: int, trust: TrustLevel | None) -> Weighed:
    """How far the provider is trusted; unknown counts as unrated."""
    return Weighed("trust", weight, TRUST[trust], f"Trust is {trust or 'unknown'}.")


def place_factor(weight: int, level: ServiceLevel) -> Weighed:
    """How closely the listing names the place."""
    return Weighed("place", weight, PLACE[level], _PLACE_WHY[level])
