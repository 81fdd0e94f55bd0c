"""Charge an invoice to the saved payment method, or start its recovery."""

from uuid import UUID

from thenga.domains.billing.services import invoicing, payments
from thenga.domains.billing.services.dunning import failures
from thenga.domains.billing.services.payments import PaymentChoice
from thenga.domains.billing.tables import (
    Account,
    CollectionMethod,
    FailureCategory,
    FailureKind,
    Invoice,
    Subscription,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def collect_automatically(
    work: Work, account: Account, invoice: Invoice, subscription: Subscription
) -> None:
    """Charge what credit does not cover. Without a chargeable method, record a failure.

    An invoice that waits for the seller is collected once it is issued (BIL-56).
    """
    if invoice.amount_due_minor == 0 or account.collection_method is CollectionMethod.SEND_INVOICE:
        return
    if await invoicing.is_blocked(work, invoice.seller_code, invoice.book):
        return
    method_id = await method_for(work, subscription)
    blocked = await blocked_by(work, method_id, invoice)
    if blocked is not None:
        declined = FailureKind.DECLINED
        await failures.open_failure(work, invoice, subscription, kind=declined, category=blocked)
        return
    how = PaymentChoice(payment_method_id=method_id)
    await payments.begin_payment(work, account, invoice, how=how, initiated_by="system")


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
