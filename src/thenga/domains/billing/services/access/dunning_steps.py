"""The next instant at which time moves a recovery, and what it shows until then.

Every date was fixed when the payment first failed, only a shield, or an account that was
parked, moves one.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from thenga.domains.billing.lifecycles import PaymentFailureLifecycle
from thenga.domains.billing.services.access import levels
from thenga.domains.billing.tables import FailureKind, FailureStatus, PaymentFailure
from thenga.kernel.db.work import Work


class DunningStep(StrEnum):
    """What is done at a date; at one and the same instant in this order."""

    RETRY = "retry"
    TELL_GRACE = "tell_grace"
    END_GRACE = "end_grace"
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True)
class Dated:
    """A step and its instant."""

    at: datetime
    step: DunningStep


_ORDER = list(DunningStep)


def planned(failure: PaymentFailure) -> list[Dated]:
    """All steps of a recovery in order, past ones as well."""
    grace = levels.grace_ends_at(failure)
    notice = timedelta(days=levels.dunning_policy_of(failure.policy).grace_notice_days)
    made = [Dated(failure.ends_at, DunningStep.GIVE_UP)]
    if not failure.first_charge and failure.kind is not FailureKind.DISPUTED:
        made += [Dated(grace - notice, DunningStep.TELL_GRACE), Dated(grace, DunningStep.END_GRACE)]
    made = [one for one in made if levels.comes(failure, one.at)]
    made += [Dated(at, DunningStep.RETRY) for at in levels.retry_dates(failure)]
    return sorted(made, key=lambda one: (one.at, _ORDER.index(one.step)))


def due_steps(failure: PaymentFailure, now: datetime) -> list[Dated]:
    """The steps from the planned check up to now, in order; of retries only the last."""
    since = failure.next_check_at
    if since is None:
        return []
    found = [one for one in planned(failure) if since <= one.at <= now]
    if any(one.step is DunningStep.GIVE_UP for one in found):
        return [one for one in found if one.step is not DunningStep.RETRY]
    retries = [one for one in found if one.step is DunningStep.RETRY]
    return [one for one in found if one.step is not DunningStep.RETRY or one is retries[-1]]


def next_dunning_check(failure: PaymentFailure, now: datetime) -> datetime | None:
    """When time moves it next."""
    return min((one.at for one in planned(failure) if one.at > now), default=None)


def next_retry(failure: PaymentFailure, now: datetime) -> datetime | None:
    """The next date on which it is charged, or reminded of."""
    left = [at for at in levels.retry_dates(failure) if at > now]
    return min(left, default=None)


def retries_left(failure: PaymentFailure, now: datetime) -> int:
    return sum(at > now for at in levels.retry_dates(failure))


async def recheck_invoice(work: Work, invoice_id: UUID) -> None:
    """Nothing is due of an invoice any more: its recovery is over at the next sweep (BIL-44)."""
    known = await levels.unsettled_failure(work, invoice_id)
    if known is None:
        return
    failure = await work.lock(PaymentFailure, known.id)
    failure.next_check_at = min(failure.next_check_at or work.now, work.now)
    await work.save(failure)


def stop_recovery(failure: PaymentFailure, now: datetime) -> None:
    """Nothing is owed or hoped for any more: it is not tried again; the caller saves it."""
    if failure.status is not FailureStatus.EXHAUSTED:
        PaymentFailureLifecycle.exhaust(failure, at=now)
    PaymentFailureLifecycle.write_off(failure, at=now)
    failure.next_retry_at, failure.next_check_at, failure.retries_left = None, None, 0
