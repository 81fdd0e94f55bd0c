"""The steps of a recovery and when the next one is due.

All dates are fixed at the first failure. Only a shield, or parking the account, moves them.
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
    """What happens at a date. Steps of the same instant run in this order."""

    RETRY = "retry"
    TELL_GRACE = "tell_grace"
    END_GRACE = "end_grace"
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True)
class Dated:
    """A step and when it is due."""

    at: datetime
    step: DunningStep


_ORDER = list(DunningStep)


def planned(failure: PaymentFailure) -> list[Dated]:
    """All steps of a recovery in order, including past ones."""
    grace = levels.grace_ends_at(failure)
    notice = timedelta(days=levels.dunning_policy_of(failure.policy).grace_notice_days)
    made = [Dated(failure.ends_at, DunningStep.GIVE_UP)]
    if not failure.first_charge and failure.kind is not FailureKind.DISPUTED:
        made += [Dated(grace - notice, DunningStep.TELL_GRACE), Dated(grace, DunningStep.END_GRACE)]
    made = [dated for dated in made if levels.takes_effect(failure, dated.at)]
    made += [Dated(at, DunningStep.RETRY) for at in levels.retry_dates(failure)]
    return sorted(made, key=lambda dated: (dated.at, _ORDER.index(dated.step)))


def due_steps(failure: PaymentFailure, now: datetime) -> list[Dated]:
    """The steps due since the last check, in order. Of several missed retries only the last
    runs."""
    since = failure.next_check_at
    if since is None:
        return []
    found = [dated for dated in planned(failure) if since <= dated.at <= now]
    if any(dated.step is DunningStep.GIVE_UP for dated in found):
        return [dated for dated in found if dated.step is not DunningStep.RETRY]
    retries = [dated for dated in found if dated.step is DunningStep.RETRY]
    return [dated for dated in found if dated.step is not DunningStep.RETRY or dated is retries[-1]]


def next_dunning_check(failure: PaymentFailure, now: datetime) -> datetime | None:
    """When the next step is due."""
    return min((dated.at for dated in planned(failure) if dated.at > now), default=None)


def next_retry(failure: PaymentFailure, now: datetime) -> datetime | None:
    """The next date of a charge or a reminder."""
    left = [at for at in levels.retry_dates(failure) if at > now]
    return min(left, default=None)


def retries_left(failure: PaymentFailure, now: datetime) -> int:
    return sum(at > now for at in levels.retry_dates(failure))


async def recheck_invoice(work: Work, invoice_id: UUID) -> None:
    """Close the recovery of an invoice with nothing due at the next sweep (BIL-44)."""
    known = await levels.unsettled_failure(work, invoice_id)
    if known is None:
        return
    failure = await work.lock(PaymentFailure, known.id)
    failure.next_check_at = min(failure.next_check_at or work.now, work.now)
    await work.save(failure)


def stop_recovery(failure: PaymentFailure, now: datetime) -> None:
    """Stop all retries. The caller saves the row."""
    if failure.status is not FailureStatus.EXHAUSTED:
        PaymentFailureLifecycle.exhaust(failure, at=now)
    PaymentFailureLifecycle.write_off(failure, at=now)
    failure.next_retry_at, failure.next_check_at, failure.retries_left = None, None, 0
