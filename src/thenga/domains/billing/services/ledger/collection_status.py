"""The collection status of an invoice, computed from the invoice and its payments (BIL-31).

It is recomputed after every change, so the order of reports does not matter.
"""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from thenga.domains.billing.tables import (
    CollectionStatus,
    DisputeStatus,
    Invoice,
    InvoiceStatus,
    Payment,
    PaymentStatus,
)
from thenga.kernel.db.work import Work

_SETTLED = (InvoiceStatus.PAID, InvoiceStatus.CREDITED)
_MOST_ATTEMPTS = 1000
_ATTEMPTS = (
    select(Payment).where(Payment.invoice_id == bindparam("invoice_id")).order_by(Payment.id)
)


def standing(invoice: Invoice, attempts: Sequence[Payment]) -> CollectionStatus:
    """A dispute decides first, then settlement, then the last attempt."""
    disputes = {
        payment.dispute_status for payment in attempts if payment.status is PaymentStatus.SUCCEEDED
    }
    if DisputeStatus.OPEN in disputes:
        return CollectionStatus.DISPUTED
    if DisputeStatus.LOST in disputes:
        return CollectionStatus.FAILED
    if invoice.status in _SETTLED:
        return CollectionStatus.SETTLED
    if any(payment.status is PaymentStatus.PROCESSING for payment in attempts):
        return CollectionStatus.PROCESSING
    if attempts and _has_failed(attempts[-1]):
        return CollectionStatus.FAILED
    return CollectionStatus.NONE if invoice.number is None else CollectionStatus.PENDING


def _has_failed(payment: Payment) -> bool:
    """A cancelled charge of a saved method failed; on a checkout page the customer left."""
    cancelled = payment.status is PaymentStatus.CANCELLED and payment.payment_method_id is not None
    return cancelled or payment.status is PaymentStatus.FAILED


async def refresh_collection_status(work: Work, invoice: Invoice) -> None:
    """Recompute and store the collection status."""
    await work.hold(invoice)
    attempts = await work.select_prepared(_ATTEMPTS, limit=_MOST_ATTEMPTS, invoice_id=invoice.id)
    now = standing(invoice, attempts)
    if invoice.collection_status is not now:
        invoice.collection_status = now
        await work.save(invoice)
