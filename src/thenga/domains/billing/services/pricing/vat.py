"""VAT inside a gross price: computed once a document and rate, never line by line (BIL-5)."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class Taxed:
    """A gross sum and its two parts; `net + vat = gross` to the cent."""

    gross: Money
    net: Money
    vat: Money


def split_vat(gross: Money, rate_pct: Decimal | None) -> Taxed:
    """What a gross sum holds; without a rate (a seller with no VAT number) all of it is net."""
    rate = Fraction(rate_pct or 0)
    vat = gross.times(rate / (100 + rate))
    return Taxed(gross, gross - vat, vat)


def split_credit_vat(credit: Money, *, before: Money, rate_pct: Decimal | None) -> Taxed:
    """What one credit note gives back after others of the same invoice gave back `before`.

    Its VAT is that of all credited so far less that credited before, so that the notes of an
    invoice never give back a cent more or less than it charged (BIL-27).
    """
    vat = split_vat(before + credit, rate_pct).vat - split_vat(before, rate_pct).vat
    return Taxed(credit, credit - vat, vat)
