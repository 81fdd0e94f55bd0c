"""Charge an invoice to the saved payment method, or start its recovery."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.services import invoicing, payments
from thenga.domains.billing.services.dunning import failures
from thenga.domains.billing.services.payments import PaymentChoice
from thenga.domains.billing.tables import (
    Account,
    CollectionMethod,
    FailureCategory,
    FailureKind,
    Invoice,
    Payment,
    PaymentStatus,
    Purpose,
    Subscription,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work


async def collect_automatically(
    work: Work, account: Account, invoice: Invoice, subscription: Subscription
) -> None:
    """Charge what credit does not cover. Without a chargeable method, send the invoice if the plan
    was first paid by bank transfer, otherwise record a failure.

    An invoice that waits for the seller is collected once it is issued (BIL-56).
    """
    if invoice.amount_due_minor == 0 or account.collection_method is CollectionMethod.SEND_INVOICE:
        return
    method_id = await method_for(work, subscription)
    if invoice.number is None and await is_sent(work, subscription, method_id):
        await invoicing.send_invoice(work, invoice)
        return
    if await invoicing.is_blocked(work, invoice.seller_code, invoice.book):
        return
    blocked = await blocked_by(work, method_id, invoice)
    if blocked is not None:
        declined = FailureKind.DECLINED
        await failures.open_failure(work, invoice, subscription, kind=declined, category=blocked)
        return
    how = PaymentChoice(payment_method_id=method_id)
    await payments.begin_payment(work, account, invoice, how=how, initiated_by="system")


async def is_sent(read: Reader, subscription: Subscription, method_id: UUID | None) -> bool:
    """Whether its invoices are sent: it has no card, and was first paid by bank transfer, so
    nothing was declined (BIL-39)."""
    if method_id is not None:
        return False
    statement = (
        select(Payment)
        .join(Invoice, Invoice.id == Payment.invoice_id)
        .where(
            Payment.subscription_id == subscription.id,
            Payment.provider == payments.EFT,
            Payment.status == PaymentStatus.SUCCEEDED,
            among(Invoice.purpose, (Purpose.FIRST, Purpose.CONVERSION)),
        )
    )
    return bool(await read.all(statement, limit=1))


async def blocked_by(
    read: Reader, method_id: UUID | None, invoice: Invoice
) -> FailureCategory | None:
    """Why no charge is made: there is no method, or it was declined too often (BIL-42)."""
    if method_id is None:
        return FailureCategory.HARD
    allowed = await payments.next_charge_allowed(read, method_id, invoice)
    return FailureCategory.SOFT if allowed > read.now else None


async def method_for(read: Reader, subscription: Subscription) -> UUID | None:
    """The method to charge: the subscription's own if chargeable, otherwise the account's."""
    method = await payments.method_of(read, subscription)
    return method.id if method else None
