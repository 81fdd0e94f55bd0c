"""What a price adds up to: lines, discount, VAT, cost and margin (BID-26 to 28).

Each line is rounded once, half-up, and sums add rounded lines, because the buyer checks printed
rate times printed quantity. Fractions keep every product exact.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from thenga.domains.bid.values.prices import Basis, Content, Discounts, Item, ItemKind, ItemVat
from thenga.kernel.values.money import Money

_ONE_RAND = Money(100, "ZAR")
_NOTHING = Money(0, "ZAR")
_UNCOUNTED = (ItemKind.RATE_ONLY, ItemKind.HEADING)
# What is spent as it stands in the bill; without a cost of its own its amount is its cost.
_SPENT_AS_STATED = (ItemKind.PROVISIONAL_SUM, ItemKind.PRIME_COST)
_NEEDS_COST = (ItemKind.MEASURED, ItemKind.LUMP_SUM)


class VatStatus(StrEnum):
    """Whether the bidder is a VAT vendor."""

    VENDOR = "vendor"
    NON_VENDOR = "non_vendor"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Totals:
    """The sums of a price. `cost` and `margin_percent` are null while a cost is missing."""

    items: Money
    discount: Money
    net: Money
    vat: Money
    total: Money
    cost: Money | None
    margin_percent: Decimal | None


@dataclass(frozen=True, slots=True)
class Priced:
    """A workbook computed: what each item comes to, and the sums."""

    amounts: Mapping[str, Money]
    rates: Mapping[str, Decimal | None]
    totals: Totals


def compute(content: Content, *, vat_percent: Decimal, vat_status: VatStatus) -> Priced:
    """Compute every line and the sums. A bidder of unknown VAT status is computed as a vendor, and
    a finding blocks the price until it is known."""
    rates = {key: rate_of(item, content.rate_decimals) for key, item in content.items.items()}
    amounts = _amounts(content, rates)
    vat_share = Fraction(0) if vat_status is VatStatus.NON_VENDOR else Fraction(vat_percent) / 100
    net, discount, vat = _sums(content, amounts, vat_share)
    cost = _cost(content, amounts)
    totals = Totals(
        items=_sum(amounts.values()),
        discount=discount,
        net=net,
        vat=vat,
        total=net + vat,
        cost=cost,
        margin_percent=margin(net, cost),
    )
    return Priced(amounts, rates, totals)


def rate_of(item: Item, places: int) -> Decimal | None:
    """The rate as entered, or built up from cost and mark-up (BID-28)."""
    if item.unit_rate is not None:
        return item.unit_rate
    if item.cost is None or item.markup_percent is None:
        return None
    exact = Fraction(item.cost) * (1 + Fraction(item.markup_percent) / 100)
    return rounded(exact, places)


def line(quantity: Decimal, rate: Decimal) -> Money:
    """Quantity times rate, rounded once to cents."""
    return _ONE_RAND.times(Fraction(quantity) * Fraction(rate))


def margin(net: Money, cost: Money | None) -> Decimal | None:
    """The share of the net price that is not cost, in per cent."""
    if cost is None or net.minor == 0:
        return None
    return rounded(Fraction(net.minor - cost.minor, net.minor) * 100, 2)


def inside(gross: Money, vat_percent: Decimal) -> Money:
    """The VAT that a gross amount contains: 15/115 of it."""
    return gross.times(Fraction(vat_percent) / (100 + Fraction(vat_percent)))


def rounded(exact: Fraction, places: int) -> Decimal:
    """Half-up, a half away from zero."""
    scaled = abs(exact) * 10**places
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    return Decimal(whole if exact >= 0 else -whole).scaleb(-places)


def _amounts(content: Content, rates: Mapping[str, Decimal | None]) -> dict[str, Money]:
    """Percentages come last: they are counted on the amounts of the items they name."""
    plain = {key: _plain_amount(item, rates[key]) for key, item in content.items.items()}
    amounts = dict(plain)
    for key, item in content.items.items():
        rate = rates[key]
        if item.kind is ItemKind.PERCENTAGE and rate is not None:
            named = _sum(plain[one] for one in item.percent_of if one in plain)
            amounts[key] = named.times(Fraction(rate) / 100)
    return amounts


def _plain_amount(item: Item, rate: Decimal | None) -> Money:
    if item.kind in _UNCOUNTED or item.kind is ItemKind.PERCENTAGE or rate is None:
        return _NOTHING
    return line(_quantity(item), rate)


def _quantity(item: Item) -> Decimal:
    """A sum without a quantity counts once; a measured item without one counts nothing."""
    if item.quantity is not None:
        return item.quantity
    return Decimal(0) if item.kind is ItemKind.MEASURED else Decimal(1)


def _sums(
    content: Content, amounts: Mapping[str, Money], vat_share: Fraction
) -> tuple[Money, Money, Money]:
    """Net, discount and VAT: the discount once on all items, VAT once on the standard-rated part
    of what is left."""
    items = _sum(amounts.values())
    discount = _discount(content.discounts, items)
    standard = _sum(amounts[k] for k, i in content.items.items() if i.vat is ItemVat.STANDARD)
    taxed = standard
    if items.minor:
        taxed = standard - discount.times(Fraction(standard.minor, items.minor))
    left = items - discount
    if content.basis is Basis.VAT_INCLUSIVE:
        vat = taxed.times(vat_share / (1 + vat_share))
        return left - vat, discount, vat
    return left, discount, taxed.times(vat_share)


def _discount(discounts: Discounts, items: Money) -> Money:
    if discounts.percent is not None:
        return items.times(Fraction(discounts.percent) / 100)
    return _ONE_RAND.times(discounts.amount) if discounts.amount is not None else _NOTHING


def _cost(content: Content, amounts: Mapping[str, Money]) -> Money | None:
    if missing_costs(content):
        return None
    costs = []
    for key, item in content.items.items():
        if item.kind in _UNCOUNTED:
            continue
        if item.cost is not None:
            costs.append(line(_quantity(item), item.cost))
        elif item.kind in _SPENT_AS_STATED:
            costs.append(amounts[key])
    return _sum(costs)


def missing_costs(content: Content) -> list[str]:
    """The measured and lump-sum items without a cost; a workbook without items misses them all."""
    return [
        key for key, item in content.in_order() if item.kind in _NEEDS_COST and item.cost is None
    ]


def _sum(amounts: Iterable[Money]) -> Money:
    return sum(amounts, start=_NOTHING)
