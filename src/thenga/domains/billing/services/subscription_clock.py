"""What time does to a subscription: first what ends, then what changes, last what renews."""

from uuid import UUID

from thenga.domains.billing.services import (
    account_lock,
    cancellations,
    expiring,
    last_usage,
    monthly_usage,
    pausing,
    plan_changes,
    renewals,
)
from thenga.domains.billing.services.subscription_moves import plan_next
from thenga.domains.billing.tables import Subscription, SubscriptionStatus, Trial
from thenga.kernel.db.work import Work


async def held(work: Work, subscription_id: UUID) -> Subscription:
    """The subscription, locked and as time has made it, for whoever decides something of it.

    The account is locked before it, as whoever takes money does, and a trial as its own clock does.
    """
    known = await work.get(Subscription, subscription_id)
    await account_lock.lock_account(work)
    if known.trial_id is not None and known.status is SubscriptionStatus.TRIALING:
        await work.lock(Trial, known.trial_id, beside=True)
    subscription = await work.lock(Subscription, subscription_id)
    if subscription.next_check_at is not None and subscription.next_check_at <= work.now:
        await _move(work, subscription)
    return subscription


async def pass_time(work: Work, subscription_id: UUID) -> None:
    """Do the steps that are due; a second run finds nothing to do."""
    await account_lock.lock_account(work)
    subscription = await work.lock(Subscription, subscription_id)
    if subscription.next_check_at is not None and subscription.next_check_at <= work.now:
        await _move(work, subscription)


async def _move(work: Work, subscription: Subscription) -> None:
    """Ending goes before changing, and changing before renewing (BIL-14)."""
    paid_until = subscription.period_end
    await cancellations.take_effect(work, subscription)
    await expiring.pass_time(work, subscription)
    await plan_changes.lapse(work, subscription)
    await pausing.pass_time(work, subscription)
    await renewals.pass_time(work, subscription)
    await monthly_usage.pass_time(work, subscription)
    await plan_next(work, subscription)
    if subscription.period_end != paid_until and renewals.is_behind(subscription, work.now):
        subscription.next_check_at = work.now  # the worker was away: go on with the next period
    await last_usage.pass_time(work, subscription)
    await work.save(subscription)
