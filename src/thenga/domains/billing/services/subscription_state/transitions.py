"""Shared transitions of a subscription: activate, end, publish, schedule the next check.

Callers lock the row; these functions save it.
"""

from datetime import date, datetime, timedelta

from sqlalchemy import bindparam, select

from thenga.domains.billing import public, settings
from thenga.domains.billing.lifecycles import CancellationLifecycle, SubscriptionLifecycle
from thenga.domains.billing.public.subscriptions import Change, PeriodTold
from thenga.domains.billing.services import (
    access,
    entitlements,
    invoicing,
    payments,
    pricing,
    usage,
)
from thenga.domains.billing.tables import (
    Access,
    Cancellation,
    CancellationStatus,
    Invoice,
    InvoiceStatus,
    PlanKind,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day, local_midnight

UNPAID_FOR = timedelta(hours=23)  # how long a sign-up or a change waits for its payment
_LATER = timedelta(hours=1)
_SOON = timedelta(seconds=10)  # after the credit note has its number and its credit can pay
_DRAFTS = select(Invoice).where(
    Invoice.subscription_id == bindparam("subscription_id"),
    Invoice.status == InvoiceStatus.DRAFT,
    Invoice.released_at.is_(None),
)


def change_event(
    subscription: Subscription, change: Change, access: Access
) -> public.SubscriptionChanged:
    """The event for a change. Every publisher uses it."""
    start, end = subscription.period_start, subscription.period_end
    period = PeriodTold(start=start, end=end) if start and end else None
    return public.SubscriptionChanged(
        organization_id=subscription.organization_id,
        subscription_id=subscription.id,
        change=change,
        status=subscription.status,
        plan_code=subscription.plan_code,
        plan_version=subscription.plan_version,
        interval=subscription.interval,
        period=period if subscription.status is not SubscriptionStatus.ENDED else None,
        access=access,
    )


async def publish_change(work: Work, subscription: Subscription, change: Change) -> None:
    """Publish a change of a saved row, with its access now."""
    failure = await access.earliest_failure(work, subscription.id)
    work.publish(
        change_event(subscription, change, access.access_level(subscription, failure, work.now))
    )


async def activate(work: Work, subscription: Subscription, *, starts_on: date) -> None:
    """Activate a subscription that is paid or free. Its periods count from this day (BIL-6)."""
    if not SubscriptionLifecycle.activate(subscription, at=work.now):
        return
    begin_periods(subscription, starts_on)
    await schedule_next_check(work, subscription)
    await work.save(subscription)
    await publish_change(work, subscription, "activated")
    await entitlements.refresh(work, reason="activated")


def begin_periods(subscription: Subscription, day: date) -> None:
    """Restart the periods on this day."""
    first = pricing.period_number(day, pricing.interval_of(subscription), 0)
    subscription.anchor_date = day
    subscription.period_start, subscription.period_end = first.start, first.end


async def end_subscription(work: Work, subscription: Subscription, *, reason: str) -> None:
    """End a subscription and drop its pending change and drafts."""
    if not SubscriptionLifecycle.end(subscription, at=work.now):
        return
    await drop_change(work, subscription)
    await _drop_drafts(work, subscription)
    subscription.ended_at, subscription.pending_change = work.now, None
    await schedule_next_check(work, subscription)
    if subscription.kind is PlanKind.BASE and await usage.is_usage_owed(work):
        subscription.next_check_at = work.now + _SOON
    await work.save(subscription)
    await _close_cancellation(work, subscription)
    work.note("billing.subscription.end", ("subscription", subscription.id), {"reason": reason})
    await publish_change(work, subscription, "ended")
    await entitlements.refresh(work, reason=reason)


async def drop_change(work: Work, subscription: Subscription) -> None:
    """Discard the draft of the pending change and restore the change it replaced."""
    pending = subscription.change
    if pending is not None and pending.invoice_id is not None:
        await invoicing.discard_draft(work, await work.lock(Invoice, pending.invoice_id))
    restore_former_change(subscription)


def restore_former_change(subscription: Subscription) -> None:
    """Restore the scheduled change that the pending one replaced, if any."""
    former = subscription.change.former if subscription.change else None
    subscription.pending_change = former.to_row() if former else None


async def _drop_drafts(work: Work, subscription: Subscription) -> None:
    """Discard unpaid drafts. A later payment for them becomes credit."""
    for draft in await work.select_prepared(_DRAFTS, limit=10, subscription_id=subscription.id):
        await invoicing.discard_draft(work, draft)
        failure = await access.unsettled_failure(work, draft.id)
        if failure is not None:  # nothing was sold, so stop charging
            await work.hold(failure)
            access.stop_recovery(failure, work.now)
            await work.save(failure)


async def _close_cancellation(work: Work, subscription: Subscription) -> None:
    if subscription.cancellation_id is None:
        return
    cancellation = await work.lock(Cancellation, subscription.cancellation_id)
    if cancellation.status is CancellationStatus.SCHEDULED:
        CancellationLifecycle.take_effect(cancellation, at=work.now)
        cancellation.effective_at = min(cancellation.effective_at, work.now)
        await work.save(cancellation)


async def schedule_next_check(read: Reader, subscription: Subscription) -> None:
    """Set the next instant with a step for this row. The caller saves it."""
    later = [at for at in await _instants(read, subscription) if at > read.now]
    subscription.next_check_at = min(later, default=None)


async def _instants(read: Reader, subscription: Subscription) -> list[datetime]:
    if subscription.status is SubscriptionStatus.INCOMPLETE:
        return [_or_later(subscription.created_at + UNPAID_FOR, read.now)]
    if subscription.status in (
        SubscriptionStatus.INCOMPLETE_EXPIRED,
        SubscriptionStatus.ENDED,
        SubscriptionStatus.TRIALING,
    ):
        return []  # a trial has its own schedule
    known = [subscription.cancel_at, await change_ends_at(read, subscription)]
    if subscription.status is SubscriptionStatus.PAUSED and subscription.resume_on is not None:
        policy = await configuration.value(read, settings.PAUSE)
        known.append(pricing.renewal_notice_at(subscription.resume_on, policy.notice_days))
        known.append(local_midnight(subscription.resume_on))
    if (
        subscription.status in SubscriptionLifecycle.RENEWING
        and subscription.period_end is not None
    ):
        known += await _renewal_instants(read, subscription, subscription.period_end)
    return [at for at in known if at is not None]


async def _renewal_instants(
    read: Reader, subscription: Subscription, renews_on: date
) -> list[datetime]:
    interval = pricing.interval_of(subscription)
    notice = await configuration.value(read, settings.RENEWAL_NOTICE)
    month = pricing.usage_month(subscription.anchor_date or renews_on, local_day(read.now))
    # A renewal that failed is tried again; its key is the period.
    return [
        pricing.renewal_notice_at(renews_on, notice.before(interval)),
        _or_later(local_midnight(renews_on), read.now),
        min(month.ends_at, local_midnight(renews_on)),
    ]


def _or_later(at: datetime, now: datetime) -> datetime:
    return at if at > now else now + _LATER


def change_awaited_until(subscription: Subscription) -> datetime | None:
    """Until when a change waits for its payment. None if none does."""
    pending = subscription.change
    return None if pending is None or pending.is_scheduled else pending.expires_at


async def change_ends_at(read: Reader, subscription: Subscription) -> datetime | None:
    """The same, but later if it is paid by bank transfer, at most until the period ends."""
    until, pending = change_awaited_until(subscription), subscription.change
    if until is None or pending is None or pending.invoice_id is None:
        return until
    transfer = await payments.transfer_awaited_until(read, pending.invoice_id)
    if transfer is None:
        return until
    return max(until, min(transfer, invoicing.current_period(subscription).ends_at))


async def restart_periods(work: Work, subscription: Subscription, day: date) -> None:
    """Restart the periods after a payment that came after the period's end (BIL-14).

    The new period is billed in a separate step, so a failure there does not undo the booked payment
    (BIL-31).
    """
    if ends_with_period(subscription):
        return
    subscription.anchor_date = subscription.period_end = day
    subscription.next_check_at = work.now
    await work.save(subscription)


def ends_with_period(subscription: Subscription) -> bool:
    """Whether it ends with this period or earlier. Ending comes before renewing."""
    if subscription.cancel_at is None or subscription.period_end is None:
        return False
    return subscription.cancel_at <= local_midnight(subscription.period_end)
