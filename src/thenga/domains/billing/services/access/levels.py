"""What the standing of a subscription allows, at any instant and before any sweep (BIL-41).

Everything is a function of the subscription's row and of the recovery that is under way for it.
The organization's level is that of its base subscription.
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

_LEVELS = list(Access)  # from all to nothing
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
    """From an instant on the standing allows this much, for this reason."""

    from_at: datetime
    access: Access
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Reduction:
    """From when on a recovery reduces access, and to what."""

    at: datetime
    access: Access
    because: str


def dunning_policy_of(value: dict[str, Any]) -> DunningPolicy:
    """The policy `billing.dunning` as it is kept."""
    return DUNNING.load(value)


def access_level(
    subscription: Subscription, failure: PaymentFailure | None, now: datetime
) -> Access:
    """What this subscription allows now; `failure` is its earliest unsettled one."""
    if subscription.status in SubscriptionLifecycle.OVER or _is_over(subscription, failure, now):
        return Access.NONE
    reached = [step for step in access_steps(subscription, failure) if step.from_at <= now]
    return reached[-1].access if reached else Access.FULL


async def earliest_failure(read: Reader, subscription_id: UUID) -> PaymentFailure | None:
    """The earliest recovery that is not settled; it decides, whatever failed after it."""
    found = await read.select_prepared(_OPEN, limit=1, subscription_id=subscription_id)
    return found[0] if found else None


async def unsettled_failure(read: Reader, invoice_id: UUID) -> PaymentFailure | None:
    """The recovery of an invoice that is not settled, if there is one."""
    found = await read.select_prepared(_OF_INVOICE, limit=1, invoice_id=invoice_id)
    return found[0] if found else None


def ends_at(subscription: Subscription, failure: PaymentFailure | None) -> datetime | None:
    """When time takes all of it away: a cancellation, or a recovery given up."""
    given_up = failure.ends_at if failure and comes(failure, failure.ends_at) else None
    known = [subscription.cancel_at, given_up]
    if subscription.status is SubscriptionStatus.TRIALING and subscription.interval is None:
        known.append(local_midnight(subscription.period_end) if subscription.period_end else None)
    return min((one for one in known if one is not None), default=None)


def _is_over(subscription: Subscription, failure: PaymentFailure | None, now: datetime) -> bool:
    over = ends_at(subscription, failure)
    return over is not None and over <= now


def access_steps(subscription: Subscription, failure: PaymentFailure | None) -> list[StandingStep]:
    """From when on this subscription allows how much, in order of time; before that, full."""
    tracks = [_failed(failure) if failure else [], _paused(subscription)]
    instants = sorted({step.from_at for track in tracks for step in track})
    return [_lowest(tracks, at) for at in instants]


def _lowest(tracks: Sequence[Sequence[StandingStep]], at: datetime) -> StandingStep:
    """The least that one of them allows at an instant: a pause opens nothing that is not paid for,
    nor the other way round."""
    reached = [[step for step in track if step.from_at <= at] for track in tracks]
    held = [track[-1] for track in reached if track]
    return replace(max(held, key=lambda step: _LEVELS.index(step.access)), from_at=at)


def _failed(failure: PaymentFailure) -> list[StandingStep]:
    """Grace, then what the policy takes away."""
    reduced = [StandingStep(one.at, one.access, one.because) for one in access_reductions(failure)]
    begun = StandingStep(failure.first_failed_at, Access.GRACE)
    return [begun, *sorted(reduced, key=lambda step: step.from_at)]


def access_reductions(failure: PaymentFailure) -> list[Reduction]:
    """What the frozen policy takes away and when; nothing where it says `keep`."""
    policy = dunning_policy_of(failure.policy)
    grace = grace_ends_at(failure)
    made = [(grace, policy.after_grace, "payment_overdue")]
    exhausted = exhausts_at(failure)
    if exhausted is not None:
        made.append((max(grace, exhausted), policy.after_exhausted, "suspended"))
    return [
        Reduction(at, Access(after.value), because)
        for at, after, because in made
        if after is not AfterGrace.KEEP and comes(failure, at)
    ]


def grace_ends_at(failure: PaymentFailure) -> datetime:
    """Until when everything stays open, a shield counted."""
    return max(filter(None, (failure.grace_ends_at, failure.shielded_until)))


def comes(failure: PaymentFailure, at: datetime) -> bool:
    """Whether time does what it would do then; not while the account is parked (BIL-51)."""
    return failure.held_since is None or at <= failure.held_since


def exhausts_at(failure: PaymentFailure) -> datetime | None:
    """When nothing is left to try; known beforehand only where the dates are mere reminders."""
    if failure.exhausted_at is not None or not is_reminder_only(failure):
        return failure.exhausted_at
    return max(retry_dates(failure), default=None)


def is_reminder_only(failure: PaymentFailure) -> bool:
    """Whether nothing is charged by itself: a card that is gone, or an invoice sent (BIL-42)."""
    return failure.category is FailureCategory.HARD or failure.kind is not FailureKind.DECLINED


def _paused(subscription: Subscription) -> list[StandingStep]:
    """A pause begins when its day is over and ends with the day before the resume (BIL-13)."""
    if subscription.paused_on is None:
        return []
    begins = local_midnight(subscription.paused_on + _A_DAY)
    made = [StandingStep(begins, Access.READ_ONLY, "paused")]
    if subscription.resume_on is not None:
        made.append(StandingStep(local_midnight(subscription.resume_on), Access.FULL))
    return made


def retry_dates(failure: PaymentFailure) -> tuple[datetime, ...]:
    """All dates on which it is tried again, past ones as well."""
    return dates_of(failure).retries


def dates_of(failure: PaymentFailure) -> Schedule:
    """All dates of a recovery, as they were fixed when it began."""
    policy, began = dunning_policy_of(failure.policy), failure.first_failed_at
    return dunning_dates(began, policy, kind=failure.kind, first_charge=failure.first_charge)


def dunning_dates(
    began: datetime, policy: DunningPolicy, *, kind: FailureKind, first_charge: bool
) -> Schedule:
    """All dates of a recovery that begins at an instant under a policy."""
    if kind is FailureKind.DISPUTED:
        return calendar.of_dispute(began, policy)
    return calendar.schedule(began, policy, first_charge=first_charge)
