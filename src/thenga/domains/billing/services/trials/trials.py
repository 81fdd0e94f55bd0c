"""Trials: a full plan for fourteen days, once, without a card (BIL-16, BIL-17)."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import asyncpg
from sqlalchemy import select

from thenga.domains.billing import public, settings
from thenga.domains.billing.lifecycles import SubscriptionLifecycle, TrialLifecycle
from thenga.domains.billing.services import (
    accounts,
    catalogue,
    customer,
    entitlements,
    subscription_state,
)
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.customer import Registered
from thenga.domains.billing.services.trials import dates as trial_calendar
from thenga.domains.billing.services.trials.dates import TrialDates
from thenga.domains.billing.tables import (
    Account,
    Book,
    OfferedPlan,
    PlanKind,
    Subscription,
    SubscriptionStatus,
    Trial,
    TrialStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import DependencyUnavailable, Duplicate, Problem
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id


class TrialUsed(Problem):
    """Each company has one trial, and each person one while the company's registration number is
    not verified. Buy a plan instead: you can cancel at any time, and shortly after the first
    payment you get the full amount back. Or verify the registration number."""

    code, status, title = "billing-trial-used", 409, "The trial has already been used"


async def start_trial(work: Work, *, plan_code: str) -> Trial:
    """Start a trial. The account lock serializes concurrent starts."""
    company = await customer.registered(work)
    await _open_account(work)
    plan = await trial_version(work, plan_code)
    policy = await configuration.value(work, settings.TRIAL)
    account = await customer.lock_account(work)
    customer.check_open(account)
    await _check_first(work, account)
    await _check_company(work, account, company)
    trial = await _add(work, account, plan, trial_calendar.dates(work.now, policy))
    work.publish(public.TrialStarted(**_event_fields(trial)))
    await entitlements.refresh(work, reason="trial_started")
    return trial


async def _open_account(work: Work) -> None:
    """Open the account if the event of the new organization has not arrived yet (BIL-16).

    The book is permanent, so if Organization does not answer, wait for the event.
    """
    if await work.find(Account) is not None:
        return
    sandbox = await customer.is_sandbox(work)
    if sandbox is None:
        return
    try:
        await accounts.open_account(work, sandbox=sandbox)
    except asyncpg.UniqueViolationError:  # a concurrent request opened it
        raise customer.account_opening() from None


async def _add(work: Work, account: Account, plan: OfferedPlan, dates: TrialDates) -> Trial:
    """Add the trial and its subscription."""
    trial_id = new_id()
    subscription = await work.add(
        Subscription(
            organization_id=account.organization_id,
            account_id=account.id,
            plan_code=plan.plan_code,
            plan_version=plan.plan_version,
            kind=PlanKind.BASE,
            status=SubscriptionStatus.TRIALING,
            period_start=local_day(work.now),
            period_end=local_day(dates.ends_at),
            trial_id=trial_id,
        )
    )
    return await work.add(
        Trial(
            id=trial_id,
            organization_id=account.organization_id,
            book=account.book,
            plan_code=plan.plan_code,
            plan_version=plan.plan_version,
            subscription_id=subscription.id,
            started_at=work.now,
            notice_at=dates.notice_at,
            ends_at=dates.ends_at,
            next_check_at=dates.notice_at,
        )
    )


async def trial_version(read: Reader, plan_code: str) -> OfferedPlan:
    """The version on sale today, if it can be tried."""
    plan = await catalogue.plan_on(read, plan_code, local_day(read.now))
    if plan is None or not (plan.public and plan.trial_eligible) or plan.kind is not PlanKind.BASE:
        raise PlanNotAvailable(
            f"The {plan_code} plan has no trial. Choose a plan with `trialEligible`, or buy it.",
            planCode=plan_code,
        )
    return plan


async def _check_first(work: Work, account: Account) -> None:
    """Refuse a second trial of the organization, except in a sandbox (BIL-17). An unpaid sign-up is
    replaced, as by another purchase (BIL-15)."""
    for trial in await work.all(select(Trial), limit=1000):
        if account.book is Book.LIVE or trial.status is TrialStatus.ACTIVE:
            raise TrialUsed()
    known = select(Subscription).where(
        Subscription.kind == PlanKind.BASE,
        among(Subscription.status, SubscriptionLifecycle.HOLDING),
    )
    for found in await work.all(known.order_by(Subscription.id), limit=100):
        subscription = await work.lock(Subscription, found.id)
        await subscription_state.expire_previous_signup(work, subscription)
        if subscription.status not in SubscriptionLifecycle.LIVE:
            continue
        if subscription.cancel_at is not None and subscription.cancel_at <= work.now:
            await subscription_state.end_subscription(work, subscription, reason="cancelled")
            continue
        raise Duplicate(
            "This organization already has a plan, so it cannot start a trial. Change the plan "
            "instead.",
            existing={"domain": "billing", "type": "subscription", "id": str(subscription.id)},
        )


async def _check_company(work: Work, account: Account, company: Registered) -> None:
    """Refuse a second trial of a company with a verified number, otherwise of a person. If
    Organization does not answer, wait. Sandbox trials do not count."""
    if account.book is not Book.LIVE:
        return
    if not company.known:
        raise DependencyUnavailable(
            "We cannot check now whether this company has used its trial. Try again in a few "
            "seconds.",
            headers={"Retry-After": "2"},
            dependency="organization",
        )
    try:
        tried = await customer.has_used_trial(work, company.number)
    except asyncpg.UniqueViolationError:  # a concurrent start of another organization
        tried = True
    if tried:
        raise TrialUsed()


def check_trial_running(trial: Trial, now: datetime, *, operation: str) -> None:
    """Refuse if the trial has ended by the clock."""
    if trial.status is TrialStatus.ACTIVE and now < trial.ends_at:
        return
    over = TrialStatus.EXPIRED if trial.status is TrialStatus.ACTIVE else trial.status
    raise not_possible(
        "This trial has ended. Buy the plan instead.", status=over, operation=operation, allowed=[]
    )


async def cancel_trial(work: Work, trial_id: UUID) -> Trial:
    """End the trial now. The fallback plan applies at once."""
    await customer.lock_account(work)
    trial = await work.lock(Trial, trial_id)
    if TrialLifecycle.cancel(trial, at=work.now):
        await _end(work, trial, "cancelled")
    return trial


async def run_due_step(work: Work, trial: Trial, due: datetime) -> None:
    """The due step of a locked trial: its notice or its end."""
    if due < trial.ends_at:
        trial.noticed_at, trial.next_check_at = work.now, trial.ends_at
        await work.save(trial)
        work.publish(public.TrialEnding(**_event_fields(trial)))
        return
    TrialLifecycle.lapse(trial, at=work.now)
    await _end(work, trial, "expired")


async def _end(work: Work, trial: Trial, outcome: Literal["cancelled", "expired"]) -> None:
    trial.ended_at, trial.next_check_at = work.now, None
    await work.save(trial)
    work.publish(public.TrialEnded(**_event_fields(trial), outcome=outcome))
    subscription = await work.lock(Subscription, trial.subscription_id)
    await subscription_state.end_subscription(work, subscription, reason=f"trial_{outcome}")
    await entitlements.refresh(work, reason="trial_ended")


def _event_fields(trial: Trial) -> dict[str, Any]:
    return {
        "organization_id": trial.organization_id,
        "trial_id": trial.id,
        "subscription_id": trial.subscription_id,
        "plan_code": trial.plan_code,
        "ends_at": trial.ends_at,
    }


async def list_trials(read: Reader, paged: Paged) -> Slice[Trial]:
    """The organization's trial, as a list of one."""
    return await read.page(select(Trial), paged)


async def plan_of(read: Reader, trial: Trial) -> OfferedPlan:
    """The version that is tried, which always stays in the catalogue."""
    found = await read.find(OfferedPlan, plan_code=trial.plan_code, plan_version=trial.plan_version)
    if found is None:
        raise LookupError(f"{trial.plan_code} {trial.plan_version} is not in the catalogue")
    return found
