"""The course of a recovery until it is paid, exhausted or written off (BIL-41, 43, 55)."""

from datetime import date, datetime, timedelta
from uuid import UUID

from sqlalchemy import bindparam, select

from thenga.domains.billing import public
from thenga.domains.billing.lifecycles import PaymentFailureLifecycle, SubscriptionLifecycle
from thenga.domains.billing.services import (
    access,
    entitlements,
    invoicing,
    pricing,
    subscription_state,
)
from thenga.domains.billing.services.access import DunningStep
from thenga.domains.billing.services.dunning import failures, notices, retries
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.tables import (
    CreditReason,
    FailureKind,
    FailureStatus,
    Invoice,
    InvoiceStatus,
    Payment,
    PaymentFailure,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_A_DAY = timedelta(days=1)
_WRITTEN_OFF = select(PaymentFailure).where(
    PaymentFailure.invoice_id == bindparam("invoice_id"),
    PaymentFailure.status == FailureStatus.WRITTEN_OFF,
)


async def run_due_steps(work: Work, failure_id: UUID) -> None:
    """Run the due steps in order and schedule the next check."""
    failure, subscription, invoice = await retries.lock_recovery(work, failure_id)
    if failure.status not in PaymentFailureLifecycle.UNSETTLED:
        return
    if failure.next_check_at is None or failure.next_check_at > work.now:
        return
    if _is_settled(failure, invoice):
        await reinstate(work, failure, subscription, None)
        return
    steps = access.due_steps(failure, work.now)
    failure.next_check_at = access.next_dunning_check(failure, work.now)
    for dated in steps:
        if dated.step is DunningStep.RETRY:
            await retries.retry_on_date(work, failure, subscription, invoice)
        elif dated.step is DunningStep.TELL_GRACE:
            await _announce_grace_end(work, failure, subscription, invoice)
        elif dated.step is DunningStep.GIVE_UP:
            await _end_recovery(work, failure, subscription, invoice)
    await work.save(failure)
    if any(dated.step is DunningStep.END_GRACE for dated in steps):
        await entitlements.refresh(work, reason="payment_overdue")


def _is_settled(failure: PaymentFailure, invoice: Invoice) -> bool:
    """Whether the invoice was credited or paid outside the recovery."""
    open_again = failure.kind is not FailureKind.DISPUTED
    return open_again and invoice.status is not InvoiceStatus.DRAFT and not invoice.amount_due_minor


async def _announce_grace_end(
    work: Work, failure: PaymentFailure, subscription: Subscription, invoice: Invoice
) -> None:
    if failure.grace_told_at is not None or subscription.status is SubscriptionStatus.ENDED:
        return  # already notified, or there is nothing left to reduce
    failure.grace_told_at = work.now
    await work.save(failure)
    await notices.notify_grace_ending(work, failure, invoice)


async def reinstate(
    work: Work, failure: PaymentFailure, subscription: Subscription, payment: Payment | None
) -> None:
    """Restore full access after payment, whatever the day (BIL-44)."""
    PaymentFailureLifecycle.recover(failure, at=work.now)
    today = local_day(work.now)
    if failure.credit_note_id is None:
        failure.credit_note_id = await _credit_undelivered(
            work, failure, subscription, until=today, ends=False
        )
    failure.recovered_at = work.now
    failure.next_retry_at = failure.next_check_at = None
    await work.save(failure)
    await _publish_recovered(work, failure, payment)
    await _reinstate_subscription(work, subscription, first_charge=failure.first_charge)
    await entitlements.refresh(work, reason="payment_recovered")


async def _publish_recovered(work: Work, failure: PaymentFailure, payment: Payment | None) -> None:
    invoice = await work.get(Invoice, failure.invoice_id)
    paid = Money(invoice.amount_paid_minor + invoice.credit_applied_minor, invoice.currency)
    work.publish(
        public.PaymentRecovered(
            organization_id=failure.organization_id,
            payment_id=payment.id if payment else None,
            failure_id=failure.id,
            invoice_id=failure.invoice_id,
            subscription_id=failure.subscription_id,
            amount=payment.amount if payment else paid,
        )
    )


async def record_late_payment(
    work: Work, invoice: Invoice, subscription: Subscription, payment: Payment
) -> None:
    """Publish a payment of a written-off invoice once. Nothing restarts."""
    found = await work.select_prepared(_WRITTEN_OFF, limit=1, invoice_id=invoice.id)
    if not found:
        return  # there was no recovery when it was written off
    failure = await work.lock(PaymentFailure, found[0].id)
    if failure.credit_note_id is None:
        today = local_day(work.now)
        failure.credit_note_id = await _credit_undelivered(
            work, failure, subscription, until=today, ends=True
        )
    failure.recovered_at = work.now
    await work.save(failure)
    await _publish_recovered(work, failure, payment)


async def _reinstate_subscription(
    work: Work, subscription: Subscription, *, first_charge: bool
) -> None:
    if subscription.status not in SubscriptionLifecycle.BEHIND:
        return  # the subscription has ended; the payment is kept
    if await access.earliest_failure(work, subscription.id) is not None:
        return
    SubscriptionLifecycle.recover(subscription, at=work.now)
    await subscription_state.schedule_next_check(work, subscription)
    await work.save(subscription)
    await subscription_state.publish_change(work, subscription, "recovered")
    today = local_day(work.now)
    over = subscription.period_end is not None and subscription.period_end <= today
    if over and not first_charge:
        await subscription_state.restart_periods(work, subscription, today)


async def _end_recovery(
    work: Work, failure: PaymentFailure, subscription: Subscription, invoice: Invoice
) -> None:
    """End the subscription on the last day of an unpaid recovery (BIL-43)."""
    if failure.status is not FailureStatus.EXHAUSTED:
        await failures.exhaust(work, failure, subscription)
    failure.next_check_at = None
    if failure.first_charge:
        await invoicing.discard_draft(work, invoice)
        PaymentFailureLifecycle.write_off(failure, at=work.now)
    else:
        last = local_day(failure.ends_at)
        failure.credit_note_id = await _credit_undelivered(
            work, failure, subscription, until=last, ends=True
        )
    await work.save(failure)
    await _end_unpaid(work, subscription)


async def _end_unpaid(work: Work, subscription: Subscription) -> None:
    if subscription.status in (
        *SubscriptionLifecycle.BEHIND,
        SubscriptionStatus.ACTIVE,
        SubscriptionStatus.PAUSED,
    ):
        await subscription_state.end_subscription(work, subscription, reason="unpaid")
    await entitlements.refresh(work, reason="ended")


async def end_written_off(work: Work, invoice_id: UUID) -> None:
    """End a recovery and its subscription after an operator wrote off the invoice (BIL-43).

    The whole amount due is written off, so no days are credited unless it is paid later.
    """
    known = await access.unsettled_failure(work, invoice_id)
    if known is None:
        return
    subscription = await work.lock(Subscription, known.subscription_id)
    failure = await work.lock(PaymentFailure, known.id)
    access.stop_recovery(failure, work.now)
    await work.save(failure)
    await _end_unpaid(work, subscription)


def _undelivered_from(
    failure: PaymentFailure, subscription: Subscription, now: datetime, *, ends: bool
) -> date | None:
    """The first day without delivery. Days banked by a pause count only if the plan ends."""
    if subscription.paused_on is not None:
        return subscription.paused_on + _A_DAY if ends else None
    reduced = [
        reduction.at for reduction in access.access_reductions(failure) if reduction.at <= now
    ]
    return local_day(min(reduced)) if reduced else None


def _undelivered_to(subscription: Subscription, paid_to: date, until: date) -> date:
    """The first day that is owed again. Days banked by a pause end with the plan."""
    if subscription.paused_on is not None:
        return paid_to
    if subscription.ended_at is None:
        return min(until, paid_to)
    # The day on which it ended was not delivered either, unless it ended at its midnight,
    # even if the amount due is paid on that day.
    last = local_day(subscription.ended_at - timedelta.resolution)
    return min(paid_to, last + _A_DAY)


async def _credit_undelivered(
    work: Work, failure: PaymentFailure, subscription: Subscription, *, until: date, ends: bool
) -> UUID | None:
    """Credit the days on which access was reduced (BIL-55).

    Days after the subscription ended are not part of the recovery.
    """
    if failure.kind is FailureKind.DISPUTED:
        return None  # the bank has returned the whole payment
    first = _undelivered_from(failure, subscription, work.now, ends=ends)
    line = first and await invoicing.running_line(work, failure.subscription_id, first)
    if first is None or not line:
        return None
    last = _undelivered_to(subscription, line.span.end, until)
    days = (last - first).days
    if days <= 0:
        return None
    invoice = await work.get(Invoice, line.invoice_id)
    amount = pricing.prorate(line.gross, days, line.span.days)
    if not amount or not invoicing.is_creditable(invoice):
        return None  # it was already credited in another way
    note = await invoicing.draft_credit_note(
        work,
        invoice,
        credited=[(line.line_id, amount)],
        reason_code=CreditReason.UNDELIVERED,
        explanation=f"Service was not provided on {days} of {line.span.days} days.",
    )
    await invoicing.release_credit_note(work, note, cut_span_at=first)
    if not ends and last < line.span.end:
        # The subscription continues: days from now on stay billed, the days in between do not.
        span, subscription_id = Period(last, line.span.end), failure.subscription_id
        await invoicing.record_billed_period(
            work, line.line_id, subscription_id=subscription_id, span=span
        )
    return note.id
