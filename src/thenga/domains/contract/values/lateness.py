"""Whether a milestone is late or will be: pure, from its dates and its progress (CON-12)."""

from collections.abc import Set
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from thenga.kernel.values.calendar import (
    add_working_days,
    local_day,
    local_midnight,
    working_days_between,
)

OVERDUE = "overdue"
FORECAST_LATE = "forecast_late"
BEHIND = "behind"
RISK = "risk"

_WATCHED_DAYS = 10  # working days before the due date in which progress is compared
_SLACK = Decimal(20)
_WHOLE = Decimal(100)
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Progress:
    """What lateness is computed from."""

    due_on: date
    duration_days: int
    calendar: str
    percent_complete: Decimal
    forecast_on: date | None
    is_done: bool
    has_critical_risk: bool


def is_overdue(progress: Progress, today: date) -> bool:
    """From the local midnight after the due date, whether a sweep has run or not."""
    return not progress.is_done and today > progress.due_on


def reasons_of(progress: Progress, today: date, extra: Set[date]) -> list[str]:
    """Why a milestone is at risk; none for one that is done."""
    if progress.is_done:
        return []
    found = []
    if progress.forecast_on is not None and progress.forecast_on > progress.due_on:
        found.append(FORECAST_LATE)
    if _is_behind(progress, today, extra):
        found.append(BEHIND)
    if progress.has_critical_risk:
        found.append(RISK)
    return found


def planned_percent(progress: Progress, today: date, extra: Set[date]) -> Decimal:
    """How far the work should be: linear over the days up to the due date."""
    if today >= progress.due_on:
        return _WHOLE
    if progress.calendar == "working":
        left = working_days_between(today, progress.due_on, extra)
    else:
        left = (progress.due_on - today).days
    if left >= progress.duration_days:
        return Decimal(0)
    return _WHOLE * (progress.duration_days - left) / progress.duration_days


def next_check(due_on: date, now: datetime, extra: Set[date]) -> datetime | None:
    """The next instant at which time alone can make a milestone late."""
    watched_from = local_midnight(add_working_days(due_on, -_WATCHED_DAYS, extra))
    over_from = local_midnight(due_on + _ONE_DAY)
    if now < watched_from:
        return watched_from
    if now >= over_from:
        return None
    # Progress falls behind day by day in the last ten working days.
    return local_midnight(local_day(now) + _ONE_DAY)


def _is_behind(progress: Progress, today: date, extra: Set[date]) -> bool:
    watched_from = add_working_days(progress.due_on, -_WATCHED_DAYS, extra)
    if today < watched_from:
        return False
    return progress.percent_complete < planned_percent(progress, today, extra) - _SLACK
