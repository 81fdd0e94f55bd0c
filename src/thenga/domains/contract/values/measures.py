"""Performance measured from facts: pure, one decimal, half up (CON-37)."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

_POINTS_A_DAY = 5
_WHOLE = 100


@dataclass(frozen=True, slots=True)
class Timed:
    """A milestone that was due: its weight, and how many working days late it is."""

    weight: Decimal
    working_days_late: int


def on_time(timed: Sequence[Timed]) -> Decimal | None:
    """100 less 5 points for each working day late, by weight; null where nothing was due."""
    weights = sum((Fraction(one.weight) for one in timed), Fraction(0))
    if not weights:
        return None
    points = sum(
        Fraction(one.weight) * max(0, _WHOLE - _POINTS_A_DAY * max(0, one.working_days_late))
        for one in timed
    )
    return _rounded(points / weights)


def quality(*, decided: int, at_first_delivery: int) -> Decimal | None:
    """The share of what was accepted at its first delivery; null where nothing was decided."""
    return _rounded(Fraction(at_first_delivery * _WHOLE, decided)) if decided else None


def value_kept(*, agreed_minor: int | None, final_cost_minor: int | None) -> Decimal | None:
    """How much of the agreed price held; null until the final cost is known."""
    if not agreed_minor or not final_cost_minor:
        return None
    return _rounded(min(Fraction(1), Fraction(agreed_minor, final_cost_minor)) * _WHOLE)


def value_band(minor: int) -> str:
    """The size of a contract, told instead of its value."""
    for most, band in ((5_000_000, "below_50k"), (100_000_000, "below_1m"), (10**9, "below_10m")):
        if minor < most:
            return band
    return "from_10m"


def _rounded(exact: Fraction) -> Decimal:
    tenths = (2 * exact.numerator * 10 + exact.denominator) // (2 * exact.denominator)
    return Decimal(tenths).scaleb(-1)
