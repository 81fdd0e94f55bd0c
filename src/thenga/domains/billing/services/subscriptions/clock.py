"""What time does to a subscription: first what ends, then what changes, last what renews."""

from uuid import UUID

from thenga.domains.billing.services import customer, plan_changes, subscription_state
from thenga.domains.billing.services.subscription_state import schedule_next_check
from thenga.domains.billing.services.subscriptions import (
    cancellations,
    final_usage,
    pauses,
    renewals,
    yearly_plan_usage,
)
from thenga.domains.billing.tables import Subscription, SubscriptionStatus, Trial
from thenga.kernel.db.work import Work


async def lock_subscription(work: Work, subscription_id: UUID) -> Subscription:
    """The subscription, locked and as time has made it, for whoever decides something of it.

    The account is locked before it, as whoever takes money does, and a trial as its own clock does.
    """
    known = await work.get(Subscription, subscription_id)
    await customer.lock_account(work)
    if known.trial_id is not None and known.status is SubscriptionStatus.TRIALING:
        await work.lock(Trial, known.trial_id, beside=True)
    subscription = await work.lock(Subscription, subscription_id)
    if subscription.next_check_at is not None and subscription.next_check_at <= work.now:
        await _move(work, subscription)
    return subscription


async def run_due_steps(work: Work, subscription_id: UUID) -> None:
    """Do the steps that are due; a second run finds nothing to do."""
    await customer.lock_account(work)
    subscription = await work.lock(Subscription, subscription_id)
    if subscription.next_check_at is not None and subscription.next_check_at <= work.now:
        await _move(work, subscription)


async def _move(work: Work, subscription: Subscription) -> None:
    """Ending goes before changing, and changing before renewing (BIL-14)."""
    paid_until = subscription.period_end
    await cancellations.take_effect(work, subscription)
    await subscription_state.run_due_signup_steps(work, subscription)
    await plan_changes.expire_change(work, subscription)
    await pauses.run_due_pause_steps(work, subscription)
    await renewals.run_due_renewal_steps(work, subscription)
    await yearly_plan_usage.pass_time(work, subscription)
    await schedule_next_check(work, subscription)
    if subscription.period_end != paid_until and renewals.is_renewal_due(subscription, work.now):
        subscription.next_check_at = work.now  # the worker was away: go on with the next period
    await final_usage.pass_time(work, subscription)
    await work.save(subscription)
