"""Overage: usage above the included quantity, priced per meter and month, capped if asked
(BIL-23)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from thenga.kernel.values.money import Money

_ONE = 100  # unit prices are in rand, money is in cents
_MOST_MINOR = 10**15  # largest single charge; sums of them still fit into an amount
_MOST_UNITS = 10**15


@dataclass(frozen=True, slots=True)
class OverageTerms:
    """What a meter includes and costs from a quantity on. Without a price, more is free."""

    begins: int
    included: int | None
    unit_price: Decimal | None


def overage_units(
    terms: Sequence[OverageTerms], *, used: int, billed: int
) -> list[tuple[int, Decimal]]:
    """The units above the included quantity by price, without the first `billed`.

    A later inclusion covers earlier usage, never the reverse.
    """
    found: list[tuple[int, Decimal]] = []
    for place, term in enumerate(terms):
        ends = terms[place + 1].begins if place + 1 < len(terms) else used
        covered = [later.included for later in terms[place:]]
        included = max((count for count in covered if count is not None), default=0)
        if not term.unit_price or None in covered:
            continue
        over = max(0, min(ends, used) - max(term.begins, included))
        known = min(over, billed)
        billed -= known
        if over > known:
            found.append((over - known, term.unit_price))
    return found


def overage_cost(over: Iterable[tuple[int, Decimal]]) -> Money:
    """The cost of units, rounded once for each price."""
    return Money(sum(price_units(count, price).minor for count, price in over), "ZAR")


def price_units(count: int, unit_price: Decimal, currency: str = "ZAR") -> Money:
    """The cost of a number of units, rounded once and limited to the largest charge."""
    if count * unit_price * _ONE >= _MOST_MINOR:
        return Money(_MOST_MINOR, currency)
    return Money(_ONE, currency).times(count * unit_price)


def units_affordable(amount: Money, unit_price: Decimal) -> int:
    """How many whole units an amount pays for."""
    return max(0, min(_MOST_UNITS, int(amount.minor // (unit_price * _ONE))))


def is_below_minimum(amount: Money, *, least: Money, renews: bool) -> bool:
    """Whether an amount is too small for an invoice of its own and waits for a later one."""
    return not renews and amount < least
