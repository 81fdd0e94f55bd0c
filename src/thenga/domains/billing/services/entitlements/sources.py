"""Where an organization's entitlements come from: its plan, add-ons, trial and goodwill (BIL-3)."""

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
from thenga.kernel import configuration
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
    """What a set is computed of."""

    account: Account
    contributions: Sequence[Contribution]
    fallback: Sequence[Entitlement]
    standing: Sequence[StandingStep]
    base: Subscription | None  # whose plan or trial counts now
    fallback_until: datetime | None  # when another version of the fallback plan is sold

    @property
    def anchor(self) -> date:
        """The day from which usage months are counted (BIL-6)."""
        begun = None if self.base is None else self.base.anchor_date or self.base.period_start
        return begun or local_day(self.account.created_at)


async def of(read: Reader) -> Sources | None:
    """The sources at this moment; none without an account."""
    account = await read.find(Account)
    if account is None:
        return None
    subscriptions = await read.select_prepared(_SUBSCRIPTIONS, limit=100)
    trials = await read.select_prepared(_TRIALS, limit=100)
    contributions = [_past(one) for one in trials if one.status is not TrialStatus.ACTIVE]
    steps_of_base: list[StandingStep] = []
    base: Subscription | None = None
    for one in subscriptions:
        failure = await access.earliest_failure(read, one.id)
        steps = access.access_steps(one, failure)
        given = await _given(read, one, steps, trials, over=access.ends_at(one, failure))
        contributions += given
        if one.kind is PlanKind.BASE:
            steps_of_base += steps
            base = one if any(part.counts(read.now) for part in given) else base
    contributions += await _goodwill(read)
    free, until = await _fallback(read)
    return Sources(account, contributions, free, steps_of_base, base, until)


def _past(trial: Trial) -> Contribution:
    """A trial that was; it gives nothing, and a later «no» can say that it is over."""
    over = trial.converted_at or trial.ended_at or trial.ends_at
    return Contribution(Source.TRIAL, (), trial.started_at, over)


async def _given(
    read: Reader,
    one: Subscription,
    steps: Sequence[StandingStep],
    trials: Sequence[Trial],
    *,
    over: datetime | None,
) -> list[Contribution]:
    entitlements = await plan_entitlements(read, one.plan_code, one.plan_version)
    if one.status is SubscriptionStatus.TRIALING:
        tried = next((trial for trial in trials if trial.id == one.trial_id), None)
        # A trial that converts by itself goes on; its row says so once that is done (BIL-18).
        until = tried.ends_at if tried and one.interval is None else None
        return [Contribution(Source.TRIAL, entitlements, None, _earlier(until, over))]
    if one.kind is PlanKind.ADDON:
        # An add-on that is not paid for loses what it gives itself, and nothing else (BIL-41).
        reduced = [step.from_at for step in steps if step.access in (Access.READ_ONLY, Access.NONE)]
        until = _earlier(over, min(reduced, default=None))
        return [Contribution(Source.ADDON, entitlements, None, until)]
    return await _of_plan(read, one, entitlements, over)


async def _of_plan(
    read: Reader,
    one: Subscription,
    entitlements: tuple[Entitlement, ...],
    over: datetime | None,
) -> list[Contribution]:
    """The plan until it ends; a scheduled change counts from its day on, before any sweep."""
    change = one.pending_change
    if (
        change is None
        or change.get("status") != "scheduled"
        or one.status is not SubscriptionStatus.ACTIVE
    ):
        return [Contribution(Source.PLAN, entitlements, None, over)]
    turns = local_midnight(date.fromisoformat(change["effectiveOn"]))
    after = await plan_entitlements(read, change["planCode"], change["planVersion"])
    return [
        Contribution(Source.PLAN, entitlements, None, _earlier(turns, over)),
        Contribution(Source.PLAN, after, turns, over),
    ]


def _earlier(first: datetime | None, second: datetime | None) -> datetime | None:
    return min((at for at in (first, second) if at is not None), default=None)


async def plan_entitlements(
    read: Reader, plan_code: str, plan_version: int
) -> tuple[Entitlement, ...]:
    """What a version gives; versions stay in the catalogue for ever."""
    plan = await read.find(OfferedPlan, plan_code=plan_code, plan_version=plan_version)
    if plan is None:
        raise LookupError(f"{plan_code} {plan_version} is not in the catalogue")
    return catalogue.parse_entitlements(plan.entitlements)


async def _fallback(read: Reader) -> tuple[tuple[Entitlement, ...], datetime | None]:
    """What the plan gives that counts without any, and until when it is sold so."""
    today = local_day(read.now)
    code = await configuration.value(read, settings.FALLBACK_PLAN)
    plan = await catalogue.plan_on(read, code, today)
    if plan is None:
        return (), None
    ends = None if plan.effective_to is None else local_midnight(plan.effective_to)
    return catalogue.parse_entitlements(plan.entitlements), ends


async def end_fallback_plan(work: Work, plan_code: str, on: date) -> None:
    """As the system login: a version of the fallback plan has got its last day, so what is held by
    it is true until then and is computed anew at that instant (BIL-45)."""
    if plan_code == await configuration.value(work, settings.FALLBACK_PLAN, on=on):
        await work.run(_END_FALLBACK, work.now, local_midnight(on))


async def _goodwill(read: Reader) -> list[Contribution]:
    """Grants that an operator gave; each ends by itself."""
    grants = await read.select_prepared(_GRANTS, limit=200)
    if not grants:
        return []
    features = {one.key: one.type for one in await read.all(select(Feature))}
    return [
        Contribution(
            Source.GRANT,
            (granted(one.entitlement, features[one.entitlement], one.value),),
            one.created_at,
            one.expires_at,
        )
        for one in grants
    ]


def granted(key: str, kind: FeatureType, value: bool | int) -> Entitlement:
    """A grant as an entitlement of its feature's type: it adds, and never makes anything hard."""
    match kind:
        case FeatureType.BOOLEAN:
            return Boolean(key, bool(value))
        case FeatureType.LIMIT:
            return Limit(key, int(value))
        case FeatureType.METERED:
            return Metered(key, int(value))
