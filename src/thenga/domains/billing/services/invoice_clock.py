"""What time does to an issued invoice: its months are earned, and one that was sent and is not paid
is late from the day after its due date on (BIL-39, BIL-47)."""

from datetime import datetime
from uuid import UUID

from thenga.domains.billing.services import accounts, earnings, failures, standing
from thenga.domains.billing.services import document_calendar as calendar
from thenga.domains.billing.tables import (
    FailureCategory,
    FailureKind,
    Invoice,
    InvoiceStatus,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.calendar import local_day
from thenga.kernel.db.work import Work


async def pass_time(work: Work, invoice_id: UUID) -> None:
    """Do what is due, in order and one by one where several dates were missed."""
    known = await work.get(Invoice, invoice_id)
    late, due = calendar.late_at(known), known.next_check_at
    subscription = None
    if late is not None and due is not None and due <= late <= work.now:
        subscription = await _held_before(work, known)
    invoice = await work.lock(Invoice, invoice_id)
    while invoice.next_check_at is not None and invoice.next_check_at <= work.now:
        at, deferred = invoice.next_check_at, True
        if at != late:
            deferred = await earnings.earn_month(work, invoice, local_day(at))
        elif subscription is not None:
            await _notice(work, invoice, subscription, at)
        invoice.next_check_at = calendar.next_check(invoice, local_day(at), deferred=deferred)
        await work.save(invoice)


async def _held_before(work: Work, invoice: Invoice) -> Subscription | None:
    """What is locked before an invoice, everywhere: its account and its subscription."""
    await accounts.held(work)
    if invoice.subscription_id is None:
        return None
    return await work.lock(Subscription, invoice.subscription_id)


async def _notice(work: Work, invoice: Invoice, subscription: Subscription, late: datetime) -> None:
    """Nobody has paid in time: the recovery begins, whose dates are reminders."""
    if invoice.status is not InvoiceStatus.OPEN:
        return
    if subscription.status is SubscriptionStatus.ENDED:
        return
    if await standing.unsettled(work, invoice.id) is not None:
        return
    await failures.begin(
        *(work, invoice, subscription),
        kind=FailureKind.OVERDUE,
        category=FailureCategory.SOFT,
        failed_at=late,
    )
