"""Effects of a payment's new status. Only `provider_results.apply_report` calls them.

Money that nothing waits for stays as credit (BIL-33). Lock order: account, trial, subscription,
invoice, failure.
"""

from sqlalchemy import bindparam, select

from thenga.domains.billing import public
from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import (
    access,
    dunning,
    invoicing,
    ledger,
    payments,
    plan_changes,
    subscription_state,
    trials,
)
from thenga.domains.billing.tables import (
    Account,
    CollectionMethod,
    DisputeStatus,
    FailureCategory,
    FailureKind,
    Invoice,
    InvoiceStatus,
    Payment,
    PaymentFailure,
    PaymentStatus,
    Purpose,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day

_DISPUTED = select(Payment).where(
    Payment.subscription_id == bindparam("subscription_id"),
    Payment.status == PaymentStatus.SUCCEEDED,
    Payment.dispute_status == DisputeStatus.OPEN,
)


async def succeeded(work: Work, payment: Payment) -> None:
    """Apply a successful payment to its invoice and to what it pays for."""
    invoice, subscription = await _lock_purchase(work, payment)
    if invoice.status is InvoiceStatus.DISCARDED:
        return
    if invoice.purpose is Purpose.FIRST and subscription is not None:
        await _begin(work, payment, invoice, subscription)
    elif invoice.purpose is Purpose.CHANGE and subscription is not None:
        await _change(work, payment, invoice, subscription)
    elif invoice.purpose is Purpose.CONVERSION and subscription is not None:
        await trials.record_first_payment(work, payment, invoice, subscription)
    else:
        await _collect(work, payment, invoice, subscription)


async def _lock_purchase(work: Work, payment: Payment) -> tuple[Invoice, Subscription | None]:
    """Lock what a payment is for. The caller holds the account lock."""
    known = await work.get(Invoice, payment.invoice_id)
    subscription = None
    if known.subscription_id is not None:
        if known.purpose is Purpose.CONVERSION:
            await trials.lock_trial(work, known.subscription_id)
        subscription = await work.lock(Subscription, known.subscription_id)
    return await work.lock(Invoice, known.id), subscription


async def _begin(
    work: Work, payment: Payment, invoice: Invoice, subscription: Subscription
) -> None:
    """Activate a subscription with its first payment, unless the sign-up has expired (BIL-15)."""
    if invoice.status is not InvoiceStatus.DRAFT:
        await _collect(work, payment, invoice, subscription)
    elif subscription.status is SubscriptionStatus.INCOMPLETE:
        starts_on = subscription.period_start or local_day(work.now)
        if await payments.transfer_awaited_until(work, invoice.id) is not None:
            # The days until a transfer arrives give no access, so they are not billed.
            starts_on = local_day(work.now)
            await invoicing.start_draft_on(work, invoice, subscription, starts_on)
        await invoicing.release_invoice(work, invoice, paid=payment.amount)
        await subscription_state.activate(work, subscription, starts_on=starts_on)


async def _change(
    work: Work, payment: Payment, invoice: Invoice, subscription: Subscription
) -> None:
    if plan_changes.awaits_payment(subscription, invoice.id):
        await plan_changes.apply_change(work, subscription, on=local_day(work.now))
    again = await work.lock(Invoice, invoice.id)  # the plan change has released it
    if again.released_at is not None:
        await _collect(work, payment, again, subscription)


async def _collect(
    work: Work, payment: Payment, invoice: Invoice, subscription: Subscription | None
) -> None:
    """Pay an issued invoice and recover its failure."""
    given_up = invoice.status is InvoiceStatus.UNCOLLECTIBLE
    if invoice.status is InvoiceStatus.DRAFT:
        await invoicing.release_invoice(work, invoice, paid=payment.amount)
        covered = payment.amount_minor >= invoice.amount_due_minor
    else:
        covered = not await ledger.pay_from_credit(work, invoice, paid=payment.amount)
    if not covered or subscription is None:
        return
    if given_up:
        await dunning.record_late_payment(work, invoice, subscription, payment)
        return
    failure = await access.unsettled_failure(work, invoice.id)
    if failure is not None:
        held = await work.lock(PaymentFailure, failure.id)
        await dunning.reinstate(work, held, subscription, payment)


async def failed(work: Work, payment: Payment) -> None:
    """A declined charge: a purchase is not made, a debt goes into recovery (BIL-39)."""
    invoice, subscription = await _lock_purchase(work, payment)
    if invoice.amount_due_minor == 0:
        return  # paid in another way, or discarded
    if subscription is not None and await _is_recovered(work, invoice, subscription):
        await dunning.record_decline(work, invoice, subscription, payment)
        return
    await _publish_failure(work, payment, invoice)


async def _is_recovered(work: Work, invoice: Invoice, subscription: Subscription) -> bool:
    """Whether the amount is owed. A recovery in progress continues after the subscription ends."""
    if await access.unsettled_failure(work, invoice.id) is not None:
        return True
    if invoice.purpose is Purpose.CONVERSION:
        return await trials.is_converted(work, subscription)
    # An issued invoice is owed, whatever its purpose. A sent one is due on its due date.
    owed = invoice.status is InvoiceStatus.OPEN or invoice.purpose in (
        Purpose.RENEWAL,
        Purpose.USAGE,
    )
    return (
        owed
        and subscription.status in SubscriptionLifecycle.PAID
        and not await _is_sent(work, invoice)
    )


async def _is_sent(work: Work, invoice: Invoice) -> bool:
    """Whether it is a sent invoice before its due date, so it has not failed yet (BIL-39)."""
    if invoice.due_date is not None:
        return invoice.issue_date is None or invoicing.overdue_at(invoice) is not None
    account = await work.get(Account, invoice.account_id)
    return account.collection_method is CollectionMethod.SEND_INVOICE


async def _publish_failure(work: Work, payment: Payment, invoice: Invoice) -> None:
    """Publish the failure of a purchase. Nothing else follows."""
    category = dunning.decline_category(payment)
    await work.touch(invoice)
    work.publish(
        public.PaymentFailed(
            organization_id=payment.organization_id,
            payment_id=payment.id,
            failure_id=None,
            invoice_id=invoice.id,
            subscription_id=invoice.subscription_id,
            attempt=payment.attempt,
            category=category.value,
            next_retry_at=None,
            grace_ends_at=None,
            remedy=dunning.failure_remedy(invoice, category),
        )
    )


async def disputed(work: Work, payment: Payment) -> None:
    """Apply a dispute to the subscription. A lost one suspends it.

    A dispute reported before its payment waits for the payment.
    """
    if (
        payment.status is not PaymentStatus.SUCCEEDED
        or payment.dispute_status is DisputeStatus.NONE
    ):
        return
    invoice, subscription = await _lock_purchase(work, payment)
    if subscription is None or subscription.status not in SubscriptionLifecycle.PAID:
        return
    disputed = await work.select_prepared(_DISPUTED, limit=1, subscription_id=subscription.id)
    subscription.disputed = bool(disputed)
    await work.save(subscription)
    if (
        payment.dispute_status is DisputeStatus.LOST
        and await access.unsettled_failure(work, invoice.id) is None
    ):
        failure = await dunning.open_failure(
            *(work, invoice, subscription),
            kind=FailureKind.DISPUTED,
            category=FailureCategory.HARD,
        )
        await dunning.exhaust(work, await work.hold(failure), subscription)
