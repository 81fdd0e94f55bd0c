"""The access a subscription gives at any instant, computed without waiting for a job (BIL-41).

Access depends only on the subscription's row and its unsettled recovery. The organization has the
access of its base subscription.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam, select

from thenga.domains.billing.lifecycles import PaymentFailureLifecycle, SubscriptionLifecycle
from thenga.domains.billing.services.access import dunning_schedule as calendar
from thenga.domains.billing.services.access.dunning_schedule import Schedule
from thenga.domains.billing.settings import DUNNING, AfterGrace, DunningPolicy
from thenga.domains.billing.tables import (
    Access,
    FailureCategory,
    FailureKind,
    PaymentFailure,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.values.calendar import local_midnight

_LEVELS = list(Access)  # from most to least access
_A_DAY = timedelta(days=1)
_OPEN = (
    select(PaymentFailure)
    .where(
        PaymentFailure.subscription_id == bindparam("subscription_id"),
        among(
            PaymentFailure.status,
            PaymentFailureLifecycle.UNSETTLED,
        ),
    )
    .order_by(PaymentFailure.first_failed_at, PaymentFailure.id)
)

_OF_INVOICE = select(PaymentFailure).where(
    PaymentFailure.invoice_id == bindparam("invoice_id"),
    among(PaymentFailure.status, PaymentFailureLifecycle.UNSETTLED),
)


@dataclass(frozen=True, slots=True)
class StandingStep:
    """The access from an instant on, and the reason."""

    from_at: datetime
    access: Access
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Reduction:
    """When a recovery reduces access, and to what."""

    at: datetime
    access: Access
    because: str


def dunning_policy_of(value: dict[str, Any]) -> DunningPolicy:
    """Parse a stored `billing.dunning` policy."""
    return DUNNING.load(value)


def access_level(
    subscription: Subscription, failure: PaymentFailure | None, now: datetime
) -> Access:
    """The access this subscription gives now. `failure` is its earliest unsettled one."""
    if subscription.status in SubscriptionLifecycle.OVER or _is_over(subscription, failure, now):
        return Access.NONE
    reached = [step for step in access_steps(subscription, failure) if step.from_at <= now]
    return reached[-1].access if reached else Access.FULL


async def earliest_failure(read: Reader, subscription_id: UUID) -> PaymentFailure | None:
    """The earliest unsettled recovery. Later failures do not change access."""
    found = await read.select_prepared(_OPEN, limit=1, subscription_id=subscription_id)
    return found[0] if found else None


async def unsettled_failure(read: Reader, invoice_id: UUID) -> PaymentFailure | None:
    """The unsettled recovery of an invoice, if there is one."""
    found = await read.select_prepared(_OF_INVOICE, limit=1, invoice_id=invoice_id)
    return found[0] if found else None


def ends_at(subscription: Subscription, failure: PaymentFailure | None) -> datetime | None:
    """When the subscription ends, by cancellation or by an exhausted recovery."""
    given_up = failure.ends_at if failure and takes_effect(failure, failure.ends_at) else None
    known = [subscription.cancel_at, given_up]
    if subscription.status is SubscriptionStatus.TRIALING and subscription.interval is None:
        known.append(local_midnight(subscription.period_end) if subscription.period_end else None)
    return min((at for at in known if at is not None), default=None)


def _is_over(subscription: Subscription, failure: PaymentFailure | None, now: datetime) -> bool:
    over = ends_at(subscription, failure)
    return over is not None and over <= now


def access_steps(subscription: Subscription, failure: PaymentFailure | None) -> list[StandingStep]:
    """Each change of access with its time, in order. Before the first, access is full."""
    tracks = [_failed(failure) if failure else [], _paused(subscription)]
    instants = sorted({step.from_at for track in tracks for step in track})
    return [_lowest(tracks, at) for at in instants]


def _lowest(tracks: Sequence[Sequence[StandingStep]], at: datetime) -> StandingStep:
    """The lower of two access levels at an instant, so a pause never restores unpaid access."""
    reached = [[step for step in track if step.from_at <= at] for track in tracks]
    held = [track[-1] for track in reached if track]
    return replace(max(held, key=lambda step: _LEVELS.index(step.access)), from_at=at)


def _failed(failure: PaymentFailure) -> list[StandingStep]:
    """Grace, then the reductions of the policy."""
    reduced = [
        StandingStep(reduction.at, reduction.access, reduction.because)
        for reduction in access_reductions(failure)
    ]
    begun = StandingStep(failure.first_failed_at, Access.GRACE)
    return [begun, *sorted(reduced, key=lambda step: step.from_at)]


def access_reductions(failure: PaymentFailure) -> list[Reduction]:
    """The reductions of the frozen policy and their dates. None if it says `keep`."""
    policy = dunning_policy_of(failure.policy)
    grace = grace_ends_at(failure)
    made = [(grace, policy.after_grace, "payment_overdue")]
    exhausted = exhausts_at(failure)
    if exhausted is not None:
        made.append((max(grace, exhausted), policy.after_exhausted, "suspended"))
    return [
        Reduction(at, Access(after.value), because)
        for at, after, because in made
        if after is not AfterGrace.KEEP and takes_effect(failure, at)
    ]


def grace_ends_at(failure: PaymentFailure) -> datetime:
    """When grace ends, including a shield."""
    return max(filter(None, (failure.grace_ends_at, failure.shielded_until)))


def takes_effect(failure: PaymentFailure, at: datetime) -> bool:
    """Whether a dated step happens. Nothing happens while the account is parked (BIL-51)."""
    return failure.held_since is None or at <= failure.held_since


def exhausts_at(failure: PaymentFailure) -> datetime | None:
    """When the last retry has failed. Known in advance only if all retries are reminders."""
    if failure.exhausted_at is not None or not is_reminder_only(failure):
        return failure.exhausted_at
    return max(retry_dates(failure), default=None)


def is_reminder_only(failure: PaymentFailure) -> bool:
    """Whether automatic charges are pointless: a hard decline, or a sent invoice (BIL-42)."""
    return failure.category is FailureCategory.HARD or failure.kind is not FailureKind.DECLINED


def _paused(subscription: Subscription) -> list[StandingStep]:
    """Access during a pause: from the end of the pause day to the start of the resume day
    (BIL-13)."""
    if subscription.paused_on is None:
        return []
    begins = local_midnight(subscription.paused_on + _A_DAY)
    made = [StandingStep(begins, Access.READ_ONLY, "paused")]
    if subscription.resume_on is not None:
        made.append(StandingStep(local_midnight(subscription.resume_on), Access.FULL))
    return made


def retry_dates(failure: PaymentFailure) -> tuple[datetime, ...]:
    """All retry dates, including past ones."""
    return dates_of(failure).retries


def dates_of(failure: PaymentFailure) -> Schedule:
    """The dates of a recovery, as fixed when it started."""
    policy, began = dunning_policy_of(failure.policy), failure.first_failed_at
    return dunning_dates(began, policy, kind=failure.kind, first_charge=failure.first_charge)


def dunning_dates(
    began: datetime, policy: DunningPolicy, *, kind: FailureKind, first_charge: bool
) -> Schedule:
    """The dates of a recovery that starts at an instant under a policy."""
    if kind is FailureKind.DISPUTED:
        return calendar.of_dispute(began, policy)
    return calendar.schedule(began, policy, first_charge=first_charge)
