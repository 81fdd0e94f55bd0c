"""The end of a trial, its notice, and its status in between (BIL-16).

It ends at the local midnight after its full days, whatever the time of day it started. Reads are
correct before the job has run.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from thenga.domains.billing.services import pricing
from thenga.domains.billing.settings import TrialPolicy

_A_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TrialDates:
    """When the notice is sent and when the trial ends."""

    notice_at: datetime
    ends_at: datetime


def dates(started_at: datetime, policy: TrialPolicy) -> TrialDates:
    """When the notice is sent and when the trial ends."""
    ends_at = pricing.midnight_after_days(started_at, policy.days)
    return TrialDates(ends_at - policy.notice_days * _A_DAY, ends_at)


def days_left(ends_at: datetime, now: datetime) -> int:
    """Full or started days until the end. 0 after it."""
    return max(0, -((now - ends_at) // _A_DAY))


def is_ending(notice_at: datetime, ends_at: datetime, now: datetime) -> bool:
    return notice_at <= now < ends_at
