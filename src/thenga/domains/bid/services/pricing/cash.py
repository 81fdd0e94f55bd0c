"""What a won bid costs in cash before the buyer pays (BID-36). Indicative: Funding owns
assessments."""

from dataclasses import dataclass
from fractions import Fraction

from thenga.domains.bid.services.pricing.arithmetic import Totals
from thenga.domains.bid.values.prices import CashTerms
from thenga.kernel.values.money import Money

PAID_AFTER = (30, 60, 90)  # days from the invoice to the buyer's payment

_NEEDED = (
    "delivery_days",
    "acceptance_days",
    "supplier_credit_percent",
    "supplier_terms_days",
)


@dataclass(frozen=True, slots=True)
class CashGap:
    """Days to bridge if the buyer pays so many days after the invoice."""

    paid_after_days: int
    days: int


@dataclass(frozen=True, slots=True)
class CashPicture:
    """Money needed before payment and for how many days; `missing` names inputs not given."""

    missing: tuple[str, ...]
    need: Money | None = None
    deposit: Money | None = None
    supplier_credit: Money | None = None
    retention: Money | None = None
    paid: Money | None = None
    gaps: tuple[CashGap, ...] = ()


def picture(totals: Totals, terms: CashTerms) -> CashPicture:
    """Need is cost less deposit and supplier credit; retention stays out until its release."""
    missing = tuple(name for name in _NEEDED if getattr(terms, name) is None)
    if totals.cost is None:
        missing = ("cost", *missing)
    if missing or totals.cost is None:
        return CashPicture(missing)
    deposit = totals.total.times(Fraction(terms.deposit_percent or 0) / 100)
    credit = totals.cost.times(Fraction(terms.supplier_credit_percent or 0) / 100)
    retention = totals.total.times(Fraction(terms.retention_percent or 0) / 100)
    need = totals.cost - deposit - credit
    days = (terms.delivery_days or 0) + (terms.acceptance_days or 0)
    return CashPicture(
        missing=(),
        need=max(need, Money(0, need.currency)),
        deposit=deposit,
        supplier_credit=credit,
        retention=retention,
        paid=totals.total - retention,
        gaps=tuple(
            CashGap(after, days + after - (terms.supplier_terms_days or 0)) for after in PAID_AFTER
        ),
    )
