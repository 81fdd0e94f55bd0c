"""A pause moves no money: the days that were paid for wait and go on at the resume (BIL-13)."""

from collections.abc import Iterable
from datetime import date, timedelta

from thenga.domains.billing.services import catalogue
from thenga.domains.billing.services.pricing import Period
from thenga.kernel.errors import Problem, told

_YEAR = timedelta(days=365)


class PauseLimit(Problem):
    """A subscription can be paused so often in 365 days and for so long at a time, no more.

    `pauses` says how often and `maxDays` how long. Cancel instead, or wait until a pause is a
    year old.
    """

    code, status, title = "billing-pause-limit", 409, "No further pause is possible"
    members = told(
        maxDays=(int, "How long a pause may be."),
        pauses=(int, "How many there may be in 365 days."),
    )


def banked_days(period: Period, paused_on: date) -> int:
    """The days that are left when the day of the pause is over."""
    return period.days_from(paused_on + timedelta(days=1))


def resumed_end(resumed_on: date, banked: int) -> date:
    """Where the paid period ends after the resume; this day becomes the new anchor."""
    return resumed_on + timedelta(days=banked)


def resumes_by(paused_on: date, asked: date | None, policy: catalogue.PausePolicy) -> date:
    """The day on which it resumes by itself: the day asked for, or the longest allowed."""
    earliest, latest = paused_on + timedelta(days=1), paused_on + timedelta(days=policy.max_days)
    if asked is not None and asked < earliest:
        raise PauseLimit(
            f"A pause that begins on {paused_on} ends on {earliest} at the earliest.",
            maxDays=policy.max_days,
        )
    if asked is not None and asked > latest:
        raise PauseLimit(
            f"A pause that begins on {paused_on} ends on {latest} at the latest.",
            maxDays=policy.max_days,
        )
    return asked or latest


def check_another(earlier: Iterable[date], day: date, policy: catalogue.PausePolicy) -> None:
    """Refuse one pause more than a year may have."""
    recent = [one for one in earlier if day - one < _YEAR]
    if len(recent) >= policy.max_in_a_year:
        raise PauseLimit(
            f"There were {len(recent)} pauses in the last 365 days; the next is possible "
            f"from {min(recent) + _YEAR}.",
            pauses=policy.max_in_a_year,
        )
