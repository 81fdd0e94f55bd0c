"""How far variations may enlarge a public contract before they need a further approval (CON-32)."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from thenga.domains.contract.tables import LimitState
from thenga.kernel.declare.law import Limit
from thenga.kernel.values.money import Money

_WARNS_AT = Fraction(80, 100)
_PLACES = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class LimitUse:
    """The executed increases with the one at hand, against the limit."""

    limit: Money
    cumulative: Money
    percent: Decimal
    state: LimitState


def limit_use(original: Money, *, increases: Money, delta: Money, allowed: Limit) -> LimitUse:
    """Use of the limit once `delta` is executed. A decrease gives nothing back."""
    by_share = original.times(Fraction(allowed.percent) / 100)
    limit = min(by_share, Money(int(allowed.most * 100), original.currency))
    cumulative = increases + max(delta, Money(0, original.currency))
    return LimitUse(limit, cumulative, percent_of(cumulative, original), _state(cumulative, limit))


def percent_of(part: Money, whole: Money) -> Decimal:
    """Two places, half-up; 0 of a contract without a value."""
    if not whole:
        return Decimal(0)
    exact = Decimal(100) * part.minor / whole.minor
    return exact.quantize(_PLACES, ROUND_HALF_UP)


def _state(cumulative: Money, limit: Money) -> LimitState:
    if cumulative > limit:
        return LimitState.EXCEEDS
    if cumulative and cumulative.minor >= limit.minor * _WARNS_AT:
        return LimitState.WARNING
    return LimitState.WITHIN
