"""Scheduled steps of a subscription: ends first, then changes, then renewals."""

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
    """Lock a subscription and apply its due steps first.

    The account is locked before it, and a trial before its subscription.
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
    """Run the due steps. A second run does nothing."""
    await customer.lock_account(work)
    subscription = await work.lock(Subscription, subscription_id)
    if subscription.next_check_at is not None and subscription.next_check_at <= work.now:
        await _move(work, subscription)


async def _move(work: Work, subscription: Subscription) -> None:
    """End before changing, and change before renewing (BIL-14)."""
    paid_until = subscription.period_end
    await cancellations.take_effect(work, subscription)
    await subscription_state.run_due_signup_steps(work, subscription)
    await plan_changes.expire_change(work, subscription)
    await pauses.run_due_pause_steps(work, subscription)
    await renewals.run_due_renewal_steps(work, subscription)
    await yearly_plan_usage.bill_ended_months(work, subscription)
    await schedule_next_check(work, subscription)
    if subscription.period_end != paid_until and renewals.is_renewal_due(subscription, work.now):
        subscription.next_check_at = work.now  # the worker was down: continue with the next period
    await final_usage.bill_final_usage(work, subscription)
    await work.save(subscription)
