"""Pausing and resuming a subscription. No money moves; paid days are banked (BIL-13)."""

from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import select

from thenga.domains.billing import public, settings
from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import (
    customer,
    entitlements,
    invoicing,
    payments,
    pricing,
)
from thenga.domains.billing.services.invoicing import (
    check_period_running,
    current_period,
    full_period_days,
)
from thenga.domains.billing.services.payments import PaymentInProgress
from thenga.domains.billing.services.plan_changes import PaymentOverdue, move_with_period
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.services.subscription_state import (
    change_awaited_until,
    publish_change,
    schedule_next_check,
)
from thenga.domains.billing.services.subscriptions import pause_rules
from thenga.domains.billing.tables import (
    Account,
    Invoice,
    InvoiceStatus,
    Pause,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day, local_midnight

_A_DAY = timedelta(days=1)
_OWED = (InvoiceStatus.DRAFT, InvoiceStatus.OPEN)


@dataclass(frozen=True, slots=True)
class Continued:
    """The period in which the banked days continue."""

    first: date
    end: date
    moved: bool  # False if the pause ended before it began


def continued(subscription: Subscription, resumed_on: date) -> Continued:
    """The banked days of a subscription that resumes on a day. Today is already used."""
    if subscription.paused_on is None or subscription.banked_days is None:
        raise LookupError(f"{subscription!r} is not paused")
    first = max(resumed_on, subscription.paused_on + _A_DAY)
    end = pause_rules.resumed_end(first, subscription.banked_days)
    return Continued(first, end, moved=end != subscription.period_end)


def apply_resume(subscription: Subscription, resumed_on: date) -> Continued:
    """Set the fields of a resumed subscription. Pure, so reads can show it before the job runs."""
    days = continued(subscription, resumed_on)
    if days.moved:
        subscription.anchor_date = subscription.period_end = days.end
        subscription.period_start = days.first
        move_with_period(subscription)
    subscription.paused_on = subscription.resume_on = subscription.banked_days = None
    return days


async def pause_subscription(
    work: Work, subscription: Subscription, *, resume_on: date | None
) -> Subscription:
    """Pause a locked subscription at the end of this day."""
    if subscription.status is SubscriptionStatus.PAUSED:
        return subscription
    if change_awaited_until(subscription) is not None:
        raise PaymentInProgress("A plan change is waiting for its payment. Withdraw it first.")
    today = local_day(work.now)
    policy = await configuration.value(work, settings.PAUSE)
    SubscriptionLifecycle.pause(subscription, at=work.now)
    await _check_settled(work, subscription, today)
    pause_rules.check_another(await _earlier(work, subscription), today, policy)
    period = current_period(subscription)
    if period.end <= today:  # nothing renews while the account is parked
        customer.check_not_parked(await work.get(Account, subscription.account_id))
    check_period_running(period, today)
    subscription.paused_on = today
    subscription.resume_on = pause_rules.resumes_by(today, resume_on, policy)
    subscription.banked_days = pause_rules.banked_days(period, today)
    await work.add(
        Pause(
            organization_id=subscription.organization_id,
            subscription_id=subscription.id,
            paused_on=today,
            resume_by=subscription.resume_on,
            banked_days=subscription.banked_days,
            period_days=await full_period_days(work, subscription, period),
        )
    )
    await schedule_next_check(work, subscription)
    await work.save(subscription)
    await publish_change(work, subscription, "paused")
    await entitlements.refresh(work, reason="paused")
    return subscription


async def _check_settled(read: Reader, subscription: Subscription, today: date) -> None:
    """Refuse a pause while the current period is unpaid."""
    line = await invoicing.running_line(read, subscription.id, today)
    if line is None:
        return
    charged = await payments.charge_in_progress(read, line.invoice_id)
    if charged is not None:
        raise PaymentInProgress(paymentId=str(charged.id))
    invoice = await read.get(Invoice, line.invoice_id)
    # Money for an invoice without a number is not allocated yet.
    came = max(0, invoice.received_minor - invoice.amount_paid_minor)
    if invoice.status in _OWED and invoice.amount_due_minor > came:
        raise PaymentOverdue(
            "The current period is not paid yet. Pay the invoice first; then you can pause the "
            "plan at once.",
            invoiceId=str(invoice.id),
        )


async def _earlier(read: Reader, subscription: Subscription) -> list[date]:
    """The days of earlier pauses, without those undone on their first day."""
    statement = select(Pause).where(Pause.subscription_id == subscription.id)
    found = await read.all(statement.order_by(Pause.id.desc()), limit=20)
    return [pause.paused_on for pause in found if pause.resumed_on != pause.paused_on]


async def resume_subscription(work: Work, subscription: Subscription, *, on: date) -> Subscription:
    """Resume the subscription: today by hand, or automatically on the planned day."""
    if not SubscriptionLifecycle.resume(subscription, at=work.now):
        return subscription
    pause = await _running(work, subscription)
    await _move_days(work, subscription, continued(subscription, on))
    days = apply_resume(subscription, on)
    pause.resumed_on = on
    pause.continued_to = days.end if days.moved else None
    await work.save(pause)
    await schedule_next_check(work, subscription)
    await work.save(subscription)
    await publish_change(work, subscription, "resumed")
    await entitlements.refresh(work, reason="resumed")
    return subscription


async def run_due_pause_steps(work: Work, subscription: Subscription) -> None:
    """Announce the end of a pause, and end it on its day."""
    if subscription.status is not SubscriptionStatus.PAUSED or subscription.resume_on is None:
        return
    if local_midnight(subscription.resume_on) <= work.now:
        await resume_subscription(work, subscription, on=subscription.resume_on)
        return
    policy = await configuration.value(work, settings.PAUSE)
    if work.now < pricing.renewal_notice_at(subscription.resume_on, policy.notice_days):
        return
    pause = await _running(work, subscription)
    if pause.noticed_at is not None:
        return
    pause.noticed_at = work.now
    await work.save(pause)
    work.publish(
        public.PauseEnding(
            organization_id=subscription.organization_id,
            pause_id=pause.id,
            subscription_id=subscription.id,
            at=local_midnight(subscription.resume_on),
        )
    )


async def _running(work: Work, subscription: Subscription) -> Pause:
    running = select(Pause).where(
        Pause.subscription_id == subscription.id, Pause.resumed_on.is_(None)
    )
    (found,) = await work.all(running, limit=1)
    return await work.lock(Pause, found.id)


async def _move_days(work: Work, subscription: Subscription, days: Continued) -> None:
    """Move the billed days of the line to the days after the resume."""
    if not days.moved or not subscription.banked_days or subscription.paused_on is None:
        return
    waits_from = subscription.paused_on + _A_DAY
    running = await invoicing.running_line(work, subscription.id, waits_from)
    if running is not None:
        await invoicing.shorten_billed_period(work, running.line_id, at=waits_from)
        await invoicing.record_billed_period(
            work,
            running.line_id,
            subscription_id=subscription.id,
            span=Period(days.first, days.end),
        )
