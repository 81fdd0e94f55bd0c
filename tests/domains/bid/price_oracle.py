"""A slow second implementation of the price, with long decimals and no fractions."""

from decimal import ROUND_HALF_UP, Decimal, localcontext

from thenga.domains.bid.values.prices import Content

CENT = Decimal("0.01")


def totals(content: Content, *, vat_percent: Decimal, vendor: bool) -> dict[str, Decimal]:
    """Items, discount, net, VAT and total in rand, each rounded once, to the cent."""
    with localcontext() as context:
        context.prec = 120
        amounts = _amounts(content)
        items = sum(amounts.values(), start=Decimal(0))
        discount = _discount(content, items)
        standard = sum(
            (amounts[key] for key, item in content.items.items() if item.vat == "standard"),
            start=Decimal(0),
        )
        taxed = standard - (_cents(discount * standard / items) if items else Decimal(0))
        rate = vat_percent if vendor else Decimal(0)
        if content.basis == "vat_inclusive":
            vat = _cents(taxed * rate / (100 + rate))
            net = items - discount - vat
        else:
            vat = _cents(taxed * rate / 100)
            net = items - discount
        return {
            "items": items,
            "discount": discount,
            "net": net,
            "vat": vat,
            "total": net + vat,
        }


def _amounts(content: Content) -> dict[str, Decimal]:
    amounts: dict[str, Decimal] = {}
    for key, item in content.items.items():
        rate = item.unit_rate
        if rate is None and item.cost is not None and item.markup_percent is not None:
            unit = Decimal(1).scaleb(-content.rate_decimals)
            rate = (item.cost + item.cost * item.markup_percent / 100).quantize(unit, ROUND_HALF_UP)
        if item.kind in ("heading", "rate_only", "percentage") or rate is None:
            amounts[key] = Decimal(0)
            continue
        once = Decimal(0) if item.kind == "measured" else Decimal(1)
        amounts[key] = _cents((once if item.quantity is None else item.quantity) * rate)
    plain = dict(amounts)
    for key, item in content.items.items():
        if item.kind == "percentage" and item.unit_rate is not None:
            named = sum((plain[one] for one in item.percent_of), start=Decimal(0))
            amounts[key] = _cents(named * item.unit_rate / 100)
    return amounts


def _discount(content: Content, items: Decimal) -> Decimal:
    if content.discounts.percent is not None:
        return _cents(items * content.discounts.percent / 100)
    return _cents(content.discounts.amount or Decimal(0))


def _cents(value: Decimal) -> Decimal:
    return value.quantize(CENT, ROUND_HALF_UP)
