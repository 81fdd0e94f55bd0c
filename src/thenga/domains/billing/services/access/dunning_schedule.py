"""What follows a failed payment, day by day: retries, grace, reduction, the end (BIL-39, BIL-41).

Schedule and policy are frozen at the first failure. Everything is a function of that instant, so
what is shown before a sweep has run equals what the sweep writes.
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
        grace_notice_at=over,  # three days are told by the first notice
        grace_ends_at=over,
        ends_at=over,
    )


def of_dispute(lost_at: datetime, policy: DunningPolicy) -> Schedule:
    """Money that a bank has taken back is neither tried again nor waited for; only the end has a
    date."""
    return Schedule((), lost_at, lost_at, ends_at(lost_at, policy))


def retries(failed_at: datetime, policy: DunningPolicy) -> list[datetime]:
    """At 08:00 local on so many days after the first failure."""
    first = local_day(failed_at)
    return [local_midnight(first + timedelta(days=n)) + _RETRY_HOUR for n in policy.retry_days]


def grace_ends_at(failed_at: datetime, policy: DunningPolicy) -> datetime:
    """After whole local days, so that the retry of the last day comes before the end."""
    return pricing.midnight_after_days(failed_at, policy.grace_days)


def grace_notice_at(failed_at: datetime, policy: DunningPolicy) -> datetime:
    """When the end of grace is told to be near (BIL-40)."""
    return grace_ends_at(failed_at, policy) - timedelta(days=policy.grace_notice_days)


def ends_at(failed_at: datetime, policy: DunningPolicy) -> datetime:
    """When a subscription without money ends (BIL-43)."""
    return local_midnight(local_day(failed_at) + timedelta(days=policy.end_after_days))
