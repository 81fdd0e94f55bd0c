"""A pause moves no money: paid days are banked and continue at the resume (BIL-13)."""

from collections.abc import Iterable
from datetime import date, timedelta

from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.settings import PausePolicy
from thenga.kernel.errors import Problem, extensions

_YEAR = timedelta(days=365)


class PauseLimit(Problem):
    """A subscription can be paused a limited number of times in 365 days, each for a limited time.

    `pauses` is how often and `maxDays` how long. Choose a shorter pause, wait until an earlier
    pause is a year old, or cancel.
    """

    code, status, title = "billing-pause-limit", 409, "This pause is not allowed"
    members = extensions(
        maxDays=(int, "Maximum length of a pause in days."),
        pauses=(int, "Maximum number of pauses in 365 days."),
    )


def banked_days(period: Period, paused_on: date) -> int:
    """The days that remain after the day of the pause."""
    return period.days_from(paused_on + timedelta(days=1))


def resumed_end(resumed_on: date, banked: int) -> date:
    """The end of the paid period after the resume, which becomes the new anchor."""
    return resumed_on + timedelta(days=banked)


def resumes_by(paused_on: date, asked: date | None, policy: PausePolicy) -> date:
    """The day it resumes automatically: the requested one or the latest allowed."""
    earliest, latest = paused_on + timedelta(days=1), paused_on + timedelta(days=policy.max_days)
    if asked is not None and asked < earliest:
        raise PauseLimit(
            f"Choose a day to resume on or after {earliest}: the pause starts after {paused_on}.",
            maxDays=policy.max_days,
        )
    if asked is not None and asked > latest:
        raise PauseLimit(
            f"Choose a day to resume on or before {latest}: a pause lasts at most "
            f"{policy.max_days} days.",
            maxDays=policy.max_days,
        )
    return asked or latest


def check_another(earlier: Iterable[date], day: date, policy: PausePolicy) -> None:
    """Refuse more pauses than a year allows."""
    recent = [start for start in earlier if day - start < _YEAR]
    if len(recent) >= policy.max_in_a_year:
        raise PauseLimit(
            f"This subscription was paused {len(recent)} times in the last 365 days. You can "
            f"pause it again from {min(recent) + _YEAR}.",
            pauses=policy.max_in_a_year,
        )
