"""Switching the plan of a trial. Nothing is charged (BIL-11)."""

from datetime import date
from uuid import UUID

from thenga.domains.billing.services import entitlements, invoicing, ledger, trials
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.plan_changes import quotes
from thenga.domains.billing.services.plan_changes.quotes import (
    Change,
    ChangeQuote,
    Effective,
    Priced,
)
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.services.subscription_state import publish_change
from thenga.domains.billing.tables import Interval, OfferedPlan, Subscription, Trial
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money


def trial_of(subscription: Subscription) -> UUID:
    """The trial of a trialing subscription."""
    if subscription.trial_id is None:
        raise LookupError(f"{subscription!r} has no trial")
    return subscription.trial_id


async def quote(
    read: Reader, subscription: Subscription, trial: Trial, plan_code: str
) -> ChangeQuote:
    """Quote the switch as of now."""
    trials.check_trial_running(trial, read.now, operation="change-plan")
    plan = await trials.trial_version(read, plan_code)
    before = await quotes.current_plan(read, subscription)
    if (plan.plan_code, plan.plan_version) == (before.plan_code, before.plan_version):
        raise PlanNotAvailable(
            f"You are already trying the {plan_code} plan. Choose another.", planCode=plan_code
        )
    await trials.check_no_charge_in_progress(read, subscription)
    # Without a chosen interval, monthly prices are compared.
    interval = Interval(subscription.interval or Interval.MONTH)
    direction = quotes.direction_of(before, plan, interval)
    change = Change(plan, before, interval, interval, Effective.NOW, direction)
    balance = await ledger.free_credit(read, currency="ZAR")
    return ChangeQuote(
        change, _unpriced(subscription, local_day(read.now), balance.currency), balance
    )


def _unpriced(subscription: Subscription, today: date, currency: str) -> Priced:
    period, nothing = invoicing.current_period(subscription), Money(0, currency)
    return Priced(today, period, Period(today, today), period.days, None, nothing, nothing)


async def switch_plan(
    work: Work, subscription: Subscription, trial: Trial, plan: OfferedPlan
) -> Subscription:
    """Switch the trial to another plan, and drop an unpaid conversion so that its price never pays
    for the new plan."""
    await trials.drop_unpaid_conversion(work, subscription)
    for row in (trial, subscription):
        row.plan_code, row.plan_version = plan.plan_code, plan.plan_version
    await work.save(trial)
    await work.save(subscription)
    await publish_change(work, subscription, "plan_changed")
    await entitlements.refresh(work, reason="plan_changed")
    return subscription
