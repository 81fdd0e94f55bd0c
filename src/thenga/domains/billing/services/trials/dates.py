"""When a trial ends, is told to be ending, and what it looks like in between (BIL-16).

It ends at the local midnight after its whole days, so nobody loses an afternoon to the hour at
which they began. What time makes of it is right at every read, before any sweep has run.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from thenga.domains.billing.services import pricing
from thenga.domains.billing.settings import TrialPolicy

_A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TrialDates:
    """The two instants at which time moves a trial."""

    notice_at: datetime
    ends_at: datetime


def dates(started_at: datetime, policy: TrialPolicy) -> TrialDates:
    """When it is told to be ending, and when it ends."""
    ends_at = pricing.midnight_after_days(started_at, policy.days)
    return TrialDates(ends_at - policy.notice_days * _A_DAY, ends_at)


def days_left(ends_at: datetime, now: datetime) -> int:
    """Whole or begun days until the end; 0 once it is over."""
    return max(0, -((now - ends_at) // _A_DAY))


def is_ending(notice_at: datetime, ends_at: datetime, now: datetime) -> bool:
    return notice_at <= now < ends_at
