"""Another plan in a trial: only what is tried changes, and nothing is charged (BIL-11)."""

from datetime import date
from uuid import UUID

from thenga.domains.billing.services import (
    allocations,
    conversion_drafts,
    entitlements,
    plan_quotes,
    remaining,
    trials,
)
from thenga.domains.billing.services.periods import Period
from thenga.domains.billing.services.plan_quotes import Change, Effective, Priced, Quoted
from thenga.domains.billing.services.plans import PlanNotAvailable
from thenga.domains.billing.services.subscription_moves import tell
from thenga.domains.billing.tables import Interval, OfferedPlan, Subscription, Trial
from thenga.kernel.calendar import local_day
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.money import Money


def trial_of(subscription: Subscription) -> UUID:
    """The trial of what is tried; it has one."""
    if subscription.trial_id is None:
        raise LookupError(f"{subscription!r} has no trial")
    return subscription.trial_id


async def quote(read: Reader, subscription: Subscription, trial: Trial, plan_code: str) -> Quoted:
    """The switch as it would be made now, while the trial runs and nothing is charged for it."""
    trials.check_runs(trial, read.now, operation="change-plan")
    plan = await trials.to_be_tried(read, plan_code)
    before = await plan_quotes.held_plan(read, subscription)
    if (plan.plan_code, plan.plan_version) == (before.plan_code, before.plan_version):
        raise PlanNotAvailable(f"{plan_code} is the plan you try.", planCode=plan_code)
    await conversion_drafts.check_not_charged(read, subscription)
    # Prices are compared by the month where nobody has chosen yet how it would be bought.
    interval = Interval(subscription.interval or Interval.MONTH)
    direction = plan_quotes.direction_of(before, plan, interval)
    change = Change(plan, before, interval, interval, Effective.NOW, direction)
    balance = await allocations.free_credit(read, currency="ZAR")
    return Quoted(change, _unpriced(subscription, local_day(read.now), balance.currency), balance)


def _unpriced(subscription: Subscription, today: date, currency: str) -> Priced:
    period, nothing = remaining.current_period(subscription), Money(0, currency)
    return Priced(today, period, Period(today, today), period.days, None, nothing, nothing)


async def make(
    work: Work, subscription: Subscription, trial: Trial, plan: OfferedPlan
) -> Subscription:
    """Try the other one; what was to be bought of the former makes way, so that the price of one
    never pays for the other."""
    await conversion_drafts.drop(work, subscription)
    for row in (trial, subscription):
        row.plan_code, row.plan_version = plan.plan_code, plan.plan_version
    await work.save(trial)
    await work.save(subscription)
    await tell(work, subscription, "plan_changed")
    await entitlements.follow(work, reason="plan_changed")
    return subscription
