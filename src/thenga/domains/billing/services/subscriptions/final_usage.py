"""The last usage invoice of an ended plan, however small (BIL-23)."""

from datetime import timedelta

from thenga.domains.billing.services import accounts, customer, dunning, invoicing, payments, usage
from thenga.domains.billing.services.customer import TaxDataMissing
from thenga.domains.billing.services.payments import PaymentChoice
from thenga.domains.billing.tables import (
    Account,
    CollectionMethod,
    Invoice,
    PlanKind,
    Purpose,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.work import Work

_LATER = timedelta(days=1)


async def bill_final_usage(work: Work, subscription: Subscription) -> None:
    """Bill unbilled usage. The row is locked, and the caller saves it."""
    ended = subscription.status is SubscriptionStatus.ENDED
    if not ended or subscription.kind is not PlanKind.BASE:
        return
    account = await work.lock(Account, subscription.account_id)
    lines = await usage.unbilled_lines(work, subscription)
    if not lines:
        return
    if account.parked:
        subscription.next_check_at = work.now + _LATER
        return
    try:
        invoice = await invoicing.invoice_subscription(
            work, account, subscription, lines, Purpose.USAGE
        )
    except TaxDataMissing:
        await accounts.park(work, reason=customer.PARKED_FOR)
        subscription.next_check_at = work.now + _LATER
        return
    await _charge(work, account, invoice, subscription)
    await usage.mark_billed(work, lines)


async def _charge(
    work: Work, account: Account, invoice: Invoice, subscription: Subscription
) -> None:
    """Charge it once. If it is declined it stays due, because there is no access to reduce."""
    if invoice.amount_due_minor == 0 or account.collection_method is CollectionMethod.SEND_INVOICE:
        return
    if await invoicing.is_blocked(work, invoice.seller_code, invoice.book):
        return
    method_id = await dunning.method_for(work, subscription)
    if await dunning.blocked_by(work, method_id, invoice) is None:
        how = PaymentChoice(payment_method_id=method_id)
        await payments.begin_payment(work, account, invoice, how=how, initiated_by="system")
