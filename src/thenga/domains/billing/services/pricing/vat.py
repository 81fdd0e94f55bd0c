"""VAT included in a gross price, computed once per document and rate (BIL-5)."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class Taxed:
    """A gross amount with its net and VAT; `net + vat = gross`."""

    gross: Money
    net: Money
    vat: Money


def split_vat(gross: Money, rate_pct: Decimal | None) -> Taxed:
    """Split a gross amount. Without a rate all of it is net."""
    rate = Fraction(rate_pct or 0)
    vat = gross.times(rate / (100 + rate))
    return Taxed(gross, gross - vat, vat)


def split_credit_vat(credit: Money, *, before: Money, rate_pct: Decimal | None) -> Taxed:
    """The VAT of a credit note after earlier notes credited `before`.

    It is the VAT of everything credited so far less the VAT credited before, so the notes of an
    invoice never credit more or less VAT than it charged (BIL-27).
    """
    vat = split_vat(before + credit, rate_pct).vat - split_vat(before, rate_pct).vat
    return Taxed(credit, credit - vat, vat)
