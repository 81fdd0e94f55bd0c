"""Which booking an invoice and its credit notes make (CON-26)."""

from thenga.domains.contract.services import ledger
from thenga.domains.contract.services.invoicing.arithmetic import Amounts, CreditShares
from thenga.domains.contract.services.ledger import Booking
from thenga.domains.contract.tables import EntryKind, InvoiceKind


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
