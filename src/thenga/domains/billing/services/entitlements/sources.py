"""The sources of an organization's entitlements: plan, add-ons, trial and grants (BIL-3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import select

from thenga.domains.billing import settings
from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import access, catalogue
from thenga.domains.billing.services.access import StandingStep
from thenga.domains.billing.services.catalogue import Boolean, Entitlement, Limit, Metered
from thenga.domains.billing.services.entitlements.merging import Contribution, Source
from thenga.domains.billing.tables import (
    Access,
    Account,
    Feature,
    FeatureType,
    Grant,
    GrantStatus,
    OfferedPlan,
    PlanKind,
    Subscription,
    SubscriptionStatus,
    Trial,
    TrialStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day, local_midnight

_SUBSCRIPTIONS = select(Subscription).where(among(Subscription.status, SubscriptionLifecycle.LIVE))
_TRIALS = select(Trial)
_END_FALLBACK = """
    UPDATE billing.entitlement_set SET valid_until = $2, next_check_at = $2, updated_at = $1
    WHERE subscription_id IS NULL AND valid_until > $2
"""
_GRANTS = select(Grant).where(Grant.status == GrantStatus.ACTIVE)


@dataclass(frozen=True, slots=True)
class Sources:
    """The inputs of a set."""

    account: Account
    contributions: Sequence[Contribution]
    fallback: Sequence[Entitlement]
    standing: Sequence[StandingStep]
    base: Subscription | None  # the base subscription or trial that counts now
    fallback_until: datetime | None  # when the next version of the fallback plan is sold

    @property
    def anchor(self) -> date:
        """The day usage months are counted from (BIL-6)."""
        begun = None if self.base is None else self.base.anchor_date or self.base.period_start
        return begun or local_day(self.account.created_at)


async def of(read: Reader) -> Sources | None:
    """The sources now. None without an account."""
    account = await read.find(Account)
    if account is None:
        return None
    subscriptions = await read.select_prepared(_SUBSCRIPTIONS, limit=100)
    trials = await read.select_prepared(_TRIALS, limit=100)
    contributions = [
        _ended_trial(trial) for trial in trials if trial.status is not TrialStatus.ACTIVE
    ]
    steps_of_base: list[StandingStep] = []
    base: Subscription | None = None
    for subscription in subscriptions:
        failure = await access.earliest_failure(read, subscription.id)
        steps = access.access_steps(subscription, failure)
        given = await _contributions_of(
            read, subscription, steps, trials, over=access.ends_at(subscription, failure)
        )
        contributions += given
        if subscription.kind is PlanKind.BASE:
            steps_of_base += steps
            base = subscription if any(part.counts(read.now) for part in given) else base
    contributions += await _grant_contributions(read)
    free, until = await _fallback(read)
    return Sources(account, contributions, free, steps_of_base, base, until)


def _ended_trial(trial: Trial) -> Contribution:
    """An ended trial gives nothing, but a refusal can say that it has ended."""
    over = trial.converted_at or trial.ended_at or trial.ends_at
    return Contribution(Source.TRIAL, (), trial.started_at, over)


async def _contributions_of(
    read: Reader,
    subscription: Subscription,
    steps: Sequence[StandingStep],
    trials: Sequence[Trial],
    *,
    over: datetime | None,
) -> list[Contribution]:
    entitlements = await plan_entitlements(read, subscription.plan_code, subscription.plan_version)
    if subscription.status is SubscriptionStatus.TRIALING:
        tried = next((trial for trial in trials if trial.id == subscription.trial_id), None)
        # A trial that converts automatically continues until the conversion is recorded (BIL-18).
        until = tried.ends_at if tried and subscription.interval is None else None
        return [Contribution(Source.TRIAL, entitlements, None, _earlier(until, over))]
    if subscription.kind is PlanKind.ADDON:
        # An unpaid add-on loses only what it gives itself (BIL-41).
        reduced = [step.from_at for step in steps if step.access in (Access.READ_ONLY, Access.NONE)]
        until = _earlier(over, min(reduced, default=None))
        return [Contribution(Source.ADDON, entitlements, None, until)]
    return await _of_plan(read, subscription, entitlements, over)


async def _of_plan(
    read: Reader,
    subscription: Subscription,
    entitlements: tuple[Entitlement, ...],
    over: datetime | None,
) -> list[Contribution]:
    """The plan until it ends. A scheduled change counts from its day, before the job applies it."""
    change = subscription.change
    if (
        change is None
        or not change.is_scheduled
        or subscription.status is not SubscriptionStatus.ACTIVE
    ):
        return [Contribution(Source.PLAN, entitlements, None, over)]
    turns = local_midnight(change.effective_on)
    after = await plan_entitlements(read, change.plan_code, change.plan_version)
    return [
        Contribution(Source.PLAN, entitlements, None, _earlier(turns, over)),
        Contribution(Source.PLAN, after, turns, over),
    ]


def _earlier(first: datetime | None, second: datetime | None) -> datetime | None:
    return min((at for at in (first, second) if at is not None), default=None)


async def plan_entitlements(
    read: Reader, plan_code: str, plan_version: int
) -> tuple[Entitlement, ...]:
    """The entitlements of a plan version."""
    plan = await read.find(OfferedPlan, plan_code=plan_code, plan_version=plan_version)
    if plan is None:
        raise LookupError(f"{plan_code} {plan_version} is not in the catalogue")
    return catalogue.parse_entitlements(plan.entitlements)


async def _fallback(read: Reader) -> tuple[tuple[Entitlement, ...], datetime | None]:
    """The entitlements of the fallback plan, and until when this version is sold."""
    today = local_day(read.now)
    code = await configuration.value(read, settings.FALLBACK_PLAN)
    plan = await catalogue.plan_on(read, code, today)
    if plan is None:
        return (), None
    ends = None if plan.effective_to is None else local_midnight(plan.effective_to)
    return catalogue.parse_entitlements(plan.entitlements), ends


async def end_fallback_plan(work: Work, plan_code: str, on: date) -> None:
    """Expire stored sets based on the fallback plan when its version ends, so that they are
    recomputed then (BIL-45). Runs as the system login."""
    if plan_code == await configuration.value(work, settings.FALLBACK_PLAN, on=on):
        await work.run(_END_FALLBACK, work.now, local_midnight(on))


async def _grant_contributions(read: Reader) -> list[Contribution]:
    """Grants given by operators. Each has an end date."""
    grants = await read.select_prepared(_GRANTS, limit=200)
    if not grants:
        return []
    features = {feature.key: feature.type for feature in await read.all(select(Feature))}
    return [
        Contribution(
            Source.GRANT,
            (granted(grant.entitlement, features[grant.entitlement], grant.value),),
            grant.created_at,
            grant.expires_at,
        )
        for grant in grants
    ]


def granted(key: str, kind: FeatureType, value: bool | int) -> Entitlement:
    """A grant as an entitlement of its feature's type. It adds and never makes a limit hard."""
    match kind:
        case FeatureType.BOOLEAN:
            return Boolean(key, bool(value))
        case FeatureType.LIMIT:
            return Limit(key, int(value))
        case FeatureType.METERED:
            return Metered(key, int(value))
