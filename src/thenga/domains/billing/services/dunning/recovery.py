"""How a recovery goes on and ends: by its dates, by money, or given up (BIL-41, 43, 55)."""

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
    """Do what is due of a recovery, in order, and plan the next check."""
    failure, subscription, invoice = await retries.held(work, failure_id)
    if failure.status not in PaymentFailureLifecycle.UNSETTLED:
        return
    if failure.next_check_at is None or failure.next_check_at > work.now:
        return
    if _is_settled(failure, invoice):
        await reinstate(work, failure, subscription, None)
        return
    steps = access.due_steps(failure, work.now)
    failure.next_check_at = access.next_dunning_check(failure, work.now)
    for one in steps:
        if one.step is DunningStep.RETRY:
            await retries.by_date(work, failure, subscription, invoice)
        elif one.step is DunningStep.TELL_GRACE:
            await _tell_grace(work, failure, subscription, invoice)
        elif one.step is DunningStep.GIVE_UP:
            await _give_up(work, failure, subscription, invoice)
    await work.save(failure)
    if any(one.step is DunningStep.END_GRACE for one in steps):
        await entitlements.refresh(work, reason="payment_overdue")


def _is_settled(failure: PaymentFailure, invoice: Invoice) -> bool:
    """Credited or paid in a way that nobody told the recovery of."""
    open_again = failure.kind is not FailureKind.DISPUTED
    return open_again and invoice.status is not InvoiceStatus.DRAFT and not invoice.amount_due_minor


async def _tell_grace(
    work: Work, failure: PaymentFailure, subscription: Subscription, invoice: Invoice
) -> None:
    if failure.grace_told_at is not None or subscription.status is SubscriptionStatus.ENDED:
        return  # told, or there is nothing left to be reduced
    failure.grace_told_at = work.now
    await work.save(failure)
    await notices.notify_grace_ending(work, failure, invoice)


async def reinstate(
    work: Work, failure: PaymentFailure, subscription: Subscription, payment: Payment | None
) -> None:
    """The money is there: everything stands as before, whatever the day (BIL-44)."""
    PaymentFailureLifecycle.recover(failure, at=work.now)
    today = local_day(work.now)
    if failure.credit_note_id is None:
        failure.credit_note_id = await _credit_undelivered(
            work, failure, subscription, until=today, ends=False
        )
    failure.recovered_at = work.now
    failure.next_retry_at = failure.next_check_at = None
    await work.save(failure)
    await _tell_recovered(work, failure, payment)
    await _stand_again(work, subscription, first_charge=failure.first_charge)
    await entitlements.refresh(work, reason="payment_recovered")


async def _tell_recovered(work: Work, failure: PaymentFailure, payment: Payment | None) -> None:
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
    """Money came for what was written off: nothing begins again, and it is told once."""
    found = await work.select_prepared(_WRITTEN_OFF, limit=1, invoice_id=invoice.id)
    if not found:
        return  # nothing had failed when it was written off
    failure = await work.lock(PaymentFailure, found[0].id)
    if failure.credit_note_id is None:
        today = local_day(work.now)
        failure.credit_note_id = await _credit_undelivered(
            work, failure, subscription, until=today, ends=True
        )
    failure.recovered_at = work.now
    await work.save(failure)
    await _tell_recovered(work, failure, payment)


async def _stand_again(work: Work, subscription: Subscription, *, first_charge: bool) -> None:
    if subscription.status not in SubscriptionLifecycle.BEHIND:
        return  # it has ended meanwhile: what is paid is paid
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


async def _give_up(
    work: Work, failure: PaymentFailure, subscription: Subscription, invoice: Invoice
) -> None:
    """The last day has come without money: the subscription ends (BIL-43)."""
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


async def written_off(work: Work, invoice_id: UUID) -> None:
    """An operator has given the money up: nothing is tried any more, what it was for ends (BIL-43).

    The whole rest is off the books, so no days are credited unless it is paid after all.
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
    """The first day that was not delivered; those that wait in a pause go on unless it ends."""
    if subscription.paused_on is not None:
        return subscription.paused_on + _A_DAY if ends else None
    reduced = [one.at for one in access.access_reductions(failure) if one.at <= now]
    return local_day(min(reduced)) if reduced else None


def _undelivered_to(subscription: Subscription, paid_to: date, until: date) -> date:
    """The first day that is owed again; all that wait in a pause go with the plan."""
    if subscription.paused_on is not None:
        return paid_to
    if subscription.ended_at is None:
        return min(until, paid_to)
    # The day on which it ended was not delivered either, unless it ended as that day began; that
    # the rest is settled on the very same day changes nothing.
    last = local_day(subscription.ended_at - timedelta.resolution)
    return min(paid_to, last + _A_DAY)


async def _credit_undelivered(
    work: Work, failure: PaymentFailure, subscription: Subscription, *, until: date, ends: bool
) -> UUID | None:
    """Days on which nothing was delivered for want of money are not owed (BIL-55).

    What has ended was delivered to nobody since, and is no day of the recovery any more.
    """
    if failure.kind is FailureKind.DISPUTED:
        return None  # the bank has given back the whole
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
        return None  # it was given back otherwise
    note = await invoicing.draft_credit_note(
        work,
        invoice,
        credited=[(line.line_id, amount)],
        reason_code=CreditReason.UNDELIVERED,
        explanation=f"{days} of {line.span.days} days were not delivered.",
    )
    await invoicing.release_credit_note(work, note, cut_span_at=first)
    if not ends and last < line.span.end:
        # It goes on: the days from now on stay paid for, those in between are not any more.
        span, subscription_id = Period(last, line.span.end), failure.subscription_id
        await invoicing.record_billed_period(
            work, line.line_id, subscription_id=subscription_id, span=span
        )
    return note.id
