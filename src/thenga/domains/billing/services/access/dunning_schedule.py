"""The schedule after a failed payment: retries, grace, reduced access, end (BIL-39, BIL-41).

Schedule and policy are fixed at the first failure. Every date is a function of that instant, so
reads are correct before the job has run.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from thenga.domains.billing.services import pricing
from thenga.domains.billing.settings import DunningPolicy
from thenga.kernel.values.calendar import local_day, local_midnight

_RETRY_HOUR = timedelta(hours=8)


@dataclass(frozen=True, slots=True)
class Schedule:
    """All dates of a recovery, fixed at the first failure."""

    retries: tuple[datetime, ...]
    grace_notice_at: datetime
    grace_ends_at: datetime
    ends_at: datetime


def schedule(failed_at: datetime, policy: DunningPolicy, *, first_charge: bool) -> Schedule:
    """The dates of a failed renewal, or the shorter ones of a trial's first charge (BIL-18)."""
    if not first_charge:
        return Schedule(
            retries=tuple(retries(failed_at, policy)),
            grace_notice_at=grace_notice_at(failed_at, policy),
            grace_ends_at=grace_ends_at(failed_at, policy),
            ends_at=ends_at(failed_at, policy),
        )
    short = policy.model_copy(
        update={
            "retry_days": policy.first_charge_retry_days,
            "grace_days": policy.first_charge_grace_days,
        }
    )
    over = grace_ends_at(failed_at, short)
    return Schedule(
        retries=tuple(retries(failed_at, short)),
        grace_notice_at=over,  # the first notice already says three days
        grace_ends_at=over,
        ends_at=over,
    )


def of_dispute(lost_at: datetime, policy: DunningPolicy) -> Schedule:
    """The schedule after a lost dispute: no retries and no grace, only an end date."""
    return Schedule((), lost_at, lost_at, ends_at(lost_at, policy))


def retries(failed_at: datetime, policy: DunningPolicy) -> list[datetime]:
    """08:00 local time on the given days after the first failure."""
    first = local_day(failed_at)
    return [local_midnight(first + timedelta(days=n)) + _RETRY_HOUR for n in policy.retry_days]


def grace_ends_at(failed_at: datetime, policy: DunningPolicy) -> datetime:
    """The local midnight after the grace days, so the retry of the last day runs before it."""
    return pricing.midnight_after_days(failed_at, policy.grace_days)


def grace_notice_at(failed_at: datetime, policy: DunningPolicy) -> datetime:
    """When the notice that grace is ending is sent (BIL-40)."""
    return grace_ends_at(failed_at, policy) - timedelta(days=policy.grace_notice_days)


def ends_at(failed_at: datetime, policy: DunningPolicy) -> datetime:
    """When an unpaid subscription ends (BIL-43)."""
    return local_midnight(local_day(failed_at) + timedelta(days=policy.end_after_days))
