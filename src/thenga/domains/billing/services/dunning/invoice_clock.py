"""Scheduled steps of an issued invoice: monthly revenue (BIL-47), overdue after the due date
(BIL-39), and collecting an amount that nothing else collects."""

from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import access, customer, invoicing, payments
from thenga.domains.billing.services.dunning import collection, failures
from thenga.domains.billing.tables import (
    Account,
    FailureCategory,
    FailureKind,
    Invoice,
    InvoiceStatus,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day

_A_DAY = timedelta(days=1)


async def run_due_invoice_steps(work: Work, invoice_id: UUID) -> None:
    """Run all due steps in order, one for each missed date."""
    known = await work.get(Invoice, invoice_id)
    if known.next_check_at is None or known.next_check_at > work.now:
        return
    late, subscription, account = invoicing.overdue_at(known), None, None
    if known.status is InvoiceStatus.OPEN and known.amount_due_minor:
        # The lock order: account and subscription before the invoice.
        account = await customer.lock_account(work)
        subscription = await _lock_subscription(work, known)
    invoice = await work.lock(Invoice, invoice_id)
    while invoice.next_check_at is not None and invoice.next_check_at <= work.now:
        at, deferred = invoice.next_check_at, True
        if invoicing.is_revenue_date(at):
            deferred = await invoicing.recognize_revenue(work, invoice, local_day(at))
        if at == late and subscription is not None:
            await _open_overdue(work, invoice, subscription, at)
        invoice.next_check_at = invoicing.next_invoice_check(
            invoice, local_day(at), deferred=deferred
        )
        await work.save(invoice)
    if account is not None and subscription is not None and late is None:
        await _collect(work, account, invoice, subscription)


async def _lock_subscription(work: Work, invoice: Invoice) -> Subscription | None:
    if invoice.subscription_id is None:
        return None
    found = await work.find(Subscription, id=invoice.subscription_id)
    return None if found is None else await work.lock(Subscription, found.id)


async def _collect(
    work: Work, account: Account, invoice: Invoice, subscription: Subscription
) -> None:
    """Charge an amount due that no payment and no recovery collects, like a renewal (BIL-14)."""
    if subscription.status not in SubscriptionLifecycle.PAID or await _is_being_collected(
        work, invoice
    ):
        return
    if account.parked is not None:  # no automatic charges; check again tomorrow (BIL-51)
        again = work.now + _A_DAY
        invoice.next_check_at = min(invoice.next_check_at or again, again)
        await work.save(invoice)
        return
    await collection.collect_automatically(work, account, invoice, subscription)


async def _is_being_collected(work: Work, invoice: Invoice) -> bool:
    running = await payments.payment_in_progress(work, invoice.id)
    return running is not None or await access.unsettled_failure(work, invoice.id) is not None


async def _open_overdue(
    work: Work, invoice: Invoice, subscription: Subscription, late: datetime
) -> None:
    """Start the recovery of an overdue invoice. Its retries are reminders."""
    if invoice.status is not InvoiceStatus.OPEN:
        return
    if subscription.status is SubscriptionStatus.ENDED:
        return
    if await access.unsettled_failure(work, invoice.id) is not None:
        return
    await failures.open_failure(
        *(work, invoice, subscription),
        kind=FailureKind.OVERDUE,
        category=FailureCategory.SOFT,
        failed_at=late,
    )
