"""Working days and hours of South Africa: no weekends, no public holidays, moved ones included.

The Public Holidays Act moves a holiday that falls on a Sunday to the Monday after it; one that
falls on a Saturday is not moved. The library knows the years 1911 to 2100; outside them only
weekends are skipped. A day proclaimed after the library was released is passed as `extra`.
"""

from collections.abc import Set
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import holidays

HOME_ZONE = "Africa/Johannesburg"

_NONE: frozenset[date] = frozenset()
_ONE_DAY = timedelta(days=1)
_ONE_MINUTE = timedelta(minutes=1)
_SATURDAY = 5
_OFFICE_HOURS = (8, 17)


@cache
def _holidays(year: int) -> frozenset[date]:
    return frozenset(holidays.country_holidays("ZA", years=year))


def is_working_day(day: date, extra: Set[date] = _NONE) -> bool:
    return day.weekday() < _SATURDAY and day not in _holidays(day.year) and day not in extra


def next_working_day(day: date, extra: Set[date] = _NONE) -> date:
    """The day itself where it is a working day, else the first one after it."""
    while not is_working_day(day, extra):
        day += _ONE_DAY
    return day


def add_working_days(day: date, n: int, extra: Set[date] = _NONE) -> date:
    """The nth working day after `day` (before it, for negative n); n = 0 is `day` as it stands.

    The first day is left out and the last counted, as the Interpretation Act (s 4) counts.
    """
    step = _ONE_DAY if n > 0 else -_ONE_DAY
    left = abs(n)
    while left:
        day += step
        left -= is_working_day(day, extra)
    return day


def working_days_between(a: date, b: date, extra: Set[date] = _NONE) -> int:
    """How far `b` is from `a`: the n for which `add_working_days(a, n)` is a working day `b`."""
    step = _ONE_DAY if b > a else -_ONE_DAY
    count, day = 0, a
    while day != b:
        day += step
        count += is_working_day(day, extra)
    return count if b > a else -count


def local_day(instant: datetime, zone: str = HOME_ZONE) -> date:
    """The calendar day that people in `zone` had at that instant."""
    if instant.tzinfo is None:
        raise ValueError("an instant is aware")
    return instant.astimezone(ZoneInfo(zone)).date()


def local_midnight(day: date, zone: str = HOME_ZONE) -> datetime:
    """The instant at which that day begins for people in `zone`."""
    return datetime.combine(day, time(0), tzinfo=ZoneInfo(zone)).astimezone(UTC)


def local_instant(day: date, clock: time, zone: str = HOME_ZONE) -> datetime:
    """The instant at which clocks in `zone` show that time; of a doubled one the first.

    A time that clocks skip in spring becomes the instant at which they skip it.
    """
    wished = datetime.combine(day, clock, tzinfo=ZoneInfo(zone))
    found = wished.astimezone(UTC)
    before = wished.replace(fold=1).astimezone(UTC)
    while found - before > timedelta(0):  # only inside the gap is the second reading earlier
        middle = before + (found - before) / 2
        skipped = (
            middle.astimezone(ZoneInfo(zone)).utcoffset()
            == found.astimezone(ZoneInfo(zone)).utcoffset()
        )
        before, found = (before, middle) if skipped else (middle, found)
        if found - before < timedelta(milliseconds=500):
            return found.replace(microsecond=0) + timedelta(seconds=found.microsecond > 0)
    return found


def add_working_minutes(
    instant: datetime,
    minutes: int,
    *,
    hours: tuple[int, int] = _OFFICE_HOURS,
    extra: Set[date] = _NONE,
) -> datetime:
    """The instant at which that many working minutes have passed since `instant`.

    What ends with the working day is due at its end, not at the start of the next.
    """
    if minutes < 0:
        raise ValueError("working minutes are added, never taken away")
    day, left = local_day(instant), minutes * _ONE_MINUTE
    while left:
        opens, closes = _working_time(day, hours, extra)
        begins = max(opens, instant)
        if begins + left <= closes:
            return begins + left
        left -= max(closes - begins, timedelta(0))
        day += _ONE_DAY
    return instant.astimezone(UTC)


def working_minutes_between(
    a: datetime,
    b: datetime,
    *,
    hours: tuple[int, int] = _OFFICE_HOURS,
    extra: Set[date] = _NONE,
) -> int:
    """The whole working minutes from `a` to `b`; negative where `b` is the earlier one."""
    if b < a:
        return -working_minutes_between(b, a, hours=hours, extra=extra)
    day, passed = local_day(a), timedelta(0)
    while day <= local_day(b):
        opens, closes = _working_time(day, hours, extra)
        passed += max(min(closes, b) - max(opens, a), timedelta(0))
        day += _ONE_DAY
    return passed // _ONE_MINUTE


def _working_time(day: date, hours: tuple[int, int], extra: Set[date]) -> tuple[datetime, datetime]:
    """When work begins and ends on that day; on a day off it ends as it begins."""
    first, last = hours
    if not 0 <= first < last <= 24:
        raise ValueError(f"{first} to {last} are no hours of a day")
    midnight = local_midnight(day)
    opens = midnight + timedelta(hours=first)
    return opens, midnight + timedelta(hours=last) if is_working_day(day, extra) else opens
