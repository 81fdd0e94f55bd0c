"""Invoice arithmetic: retention, recovery of the advance, VAT once per document, and the booking
that follows (CON-15, CON-16, CON-26).

Amounts include VAT unless a name says `net` or `vat`. Values in, values out.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from thenga.domains.contract.services import ledger
from thenga.domains.contract.services.ledger import Balances, Booking
from thenga.domains.contract.tables import EntryKind, InvoiceKind
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class InvoiceTerms:
    """Terms of the contract that an invoice follows. `rate_percent` is null for a non-vendor."""

    rate_percent: Decimal | None
    retention_percent: Decimal = Decimal(0)
    recovery_percent: Decimal = Decimal(0)
    vat_timing: Literal["when_due", "on_invoice"] = "when_due"


@dataclass(frozen=True, slots=True)
class Amounts:
    """The figures of one invoice; `net + vat = consideration`."""

    work: Money
    retained: Money
    recovered: Money
    consideration: Money
    net: Money
    vat: Money
    payable: Money


def split_vat(consideration: Money, rate_percent: Decimal | None) -> tuple[Money, Money]:
    """Net and VAT of a VAT-inclusive amount. Without a rate all of it is net."""
    rate = Fraction(rate_percent or 0)
    vat = consideration.times(rate / (100 + rate))
    return consideration - vat, vat


def invoice_amounts(
    kind: InvoiceKind, total: Money, *, terms: InvoiceTerms, balances: Balances
) -> Amounts:
    """The figures of an invoice whose lines sum to `total`."""
    if kind is InvoiceKind.PROGRESS:
        return _progress(total, terms, balances)
    nothing = Money(0, total.currency)
    is_taxed = kind is InvoiceKind.ADVANCE or terms.vat_timing == "when_due"
    consideration = total if is_taxed else nothing
    net, vat = split_vat(consideration, terms.rate_percent)
    return Amounts(nothing, nothing, nothing, consideration, net, vat, total)


def _progress(work: Money, terms: InvoiceTerms, balances: Balances) -> Amounts:
    room = max(balances.retention_cap - balances.retained, Money(0, work.currency))
    retained = min(_percent(work, terms.retention_percent), room)
    open_advance = balances.advance_billed - balances.recovered
    recovered = min(_percent(work, terms.recovery_percent), open_advance, work - retained)
    payable = work - retained - recovered
    consideration = payable if terms.vat_timing == "when_due" else work - recovered
    net, vat = split_vat(consideration, terms.rate_percent)
    return Amounts(work, retained, recovered, consideration, net, vat, payable)


def _percent(amount: Money, percent: Decimal) -> Money:
    return amount.times(Fraction(percent) / 100)


@dataclass(frozen=True, slots=True)
class CreditShares:
    """What one credit note gives back of its invoice."""

    amount: Money
    work: Money
    retained: Money
    recovered: Money
    vat: Money
    consideration: Money

    @property
    def net(self) -> Money:
        return self.consideration - self.vat


def credit_shares(invoice: Amounts, credit: Money, *, before: Money) -> CreditShares:
    """The parts that a credit returns, after earlier ones credited `before`.

    Each part is the share of everything credited so far less the share credited before, so credit
    notes for the whole amount return exactly what the invoice charged.
    """
    if not invoice.payable:
        raise ValueError("an invoice of nothing cannot be credited")

    def returned(whole: Money) -> Money:
        def share(credited: Money) -> Money:
            return whole.times(Fraction(credited.minor, invoice.payable.minor))

        return share(before + credit) - share(before)

    retained, recovered = returned(invoice.retained), returned(invoice.recovered)
    consideration = returned(invoice.consideration)
    work = credit + retained + recovered if invoice.work else invoice.work
    return CreditShares(credit, work, retained, recovered, returned(invoice.vat), consideration)


def booking_of(kind: InvoiceKind, amounts: Amounts) -> Booking:
    """The entry of a submitted invoice."""
    if kind is InvoiceKind.ADVANCE:
        return ledger.advance_booking(payable=amounts.payable, vat=amounts.vat)
    if kind is InvoiceKind.RETENTION_RELEASE:
        return ledger.release_booking(payable=amounts.payable, vat=amounts.vat)
    return ledger.progress_booking(
        payable=amounts.payable,
        retained=amounts.retained,
        recovered=amounts.recovered,
        vat=amounts.vat,
    )


def credit_booking(kind: InvoiceKind, shares: CreditShares) -> Booking:
    """The entry of a credit note: its share of the invoice's entry, the other way round."""
    if kind is InvoiceKind.ADVANCE:
        made = ledger.advance_booking(payable=shares.amount, vat=shares.vat)
    elif kind is InvoiceKind.RETENTION_RELEASE:
        made = ledger.release_booking(payable=shares.amount, vat=shares.vat)
    else:
        made = ledger.progress_booking(
            payable=shares.amount,
            retained=shares.retained,
            recovered=shares.recovered,
            vat=shares.vat,
        )
    return made.reversed(EntryKind.CREDIT_NOTE)
