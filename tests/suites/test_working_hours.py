"""Working minutes: worked examples, and a clock that counts minute by minute."""

from collections.abc import Set
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from tests.planting import plant
from tests.suites.sizes import size
from thenga.kernel.values import calendar

CASES = size(300, 1_000)
SOUTH_AFRICA = timedelta(hours=2)
URGENT, HIGH = (60, 540), (240, 1080)


def local(day: date, hour: int, minute: int = 0, second: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=UTC) - SOUTH_AFRICA


TUESDAY = date(2026, 12, 15)  # the day before the Day of Reconciliation
FRIDAY = date(2026, 11, 13)


@pytest.mark.parametrize(
    ("since", "minutes", "due"),
    [
        (local(TUESDAY, 16, 30), HIGH[0], datetime(2026, 12, 17, 9, 30, tzinfo=UTC)),
        (local(TUESDAY, 16, 30), HIGH[1], datetime(2026, 12, 18, 14, 30, tzinfo=UTC)),
        # Waiting from Thursday 16:00 to Friday 09:00, when 510 of 1080 minutes were used.
        (local(date(2026, 12, 18), 9), 1080 - 510, datetime(2026, 12, 21, 7, 30, tzinfo=UTC)),
        (local(FRIDAY, 16), URGENT[0], local(FRIDAY, 17)),
        (local(FRIDAY, 17), URGENT[0], local(date(2026, 11, 16), 9)),
        # Escalations: four working hours.
        (local(TUESDAY, 15, 30), 4 * 60, local(date(2026, 12, 17), 10, 30)),
        # The election day of 2026 does not count; seconds stay.
        (local(date(2026, 11, 3), 16, 59, 20), 1, local(date(2026, 11, 5), 8, 0, 20)),
        (local(date(2026, 11, 14), 12), 0, local(date(2026, 11, 14), 12)),
    ],
)
def test_working_minutes_lead_to_the_worked_instants(since, minutes, due):
    assert calendar.add_working_minutes(since, minutes) == due
    assert calendar.working_minutes_between(since, due) == minutes
    assert calendar.working_minutes_between(due, since) == -minutes


def test_a_pause_counts_what_was_used_before_it():
    opened, paused = local(TUESDAY, 16, 30), local(date(2026, 12, 17), 16)

    assert calendar.working_minutes_between(opened, paused) == 510


def test_hours_and_late_proclamations_are_passed_in():
    monday = frozenset({date(2026, 11, 16)})
    tuesday = local(date(2026, 11, 17), 9)

    assert calendar.add_working_minutes(local(FRIDAY, 17), 60, extra=monday) == tuesday
    assert calendar.working_minutes_between(local(FRIDAY, 17), tuesday, extra=monday) == 60
    assert calendar.add_working_minutes(local(FRIDAY, 17), 60, hours=(0, 24)) == local(FRIDAY, 18)


def test_what_no_working_day_can_be_is_refused():
    with pytest.raises(ValueError, match="hours of a day"):
        calendar.add_working_minutes(local(FRIDAY, 17), 60, hours=(17, 8))
    with pytest.raises(ValueError, match="never taken away"):
        calendar.add_working_minutes(local(FRIDAY, 17), -60)
    with pytest.raises(ValueError, match="aware"):
        calendar.add_working_minutes(datetime(2026, 11, 13, 17), 60)  # noqa: DTZ001 (on purpose)


def slow_clock(
    since: datetime, length: int, hours: tuple[int, int], extra: Set[date]
) -> tuple[int, datetime]:
    """Working minutes among the next `length` ones, and when the last of them was over."""
    counted, over = 0, since
    opens, closes = hours[0] * 60, hours[1] * 60
    there = since + SOUTH_AFRICA
    day, minute = there.date(), there.hour * 60 + there.minute
    works = calendar.is_working_day(day, extra)
    for passed in range(1, length + 1):
        if works and opens <= minute < closes:
            counted, over = counted + 1, since + timedelta(minutes=passed)
        minute += 1
        if minute == 24 * 60:
            day, minute = day + timedelta(days=1), 0
            works = calendar.is_working_day(day, extra)
    return counted, over


DAYS = st.one_of(
    st.dates(date(2000, 1, 1), date(2090, 12, 31)),
    st.dates(date(2026, 12, 10), date(2027, 1, 4)),
    st.dates(date(2027, 3, 15), date(2027, 5, 5)),
)
HOURS = st.sampled_from([(8, 17), (8, 17), (0, 24), (7, 19), (9, 10)])


@examples(max_examples=CASES)
@given(DAYS, st.integers(0, 1439), st.integers(0, 4 * 1440), HOURS, st.booleans())
def test_working_minutes_equal_a_slow_clock(day, minute, length, hours, proclaimed):
    since = local(day, 0) + timedelta(minutes=minute)
    extra = frozenset({day + timedelta(days=1)} if proclaimed else ())

    counted, over = slow_clock(since, length, hours, extra)

    until = since + timedelta(minutes=length)
    assert calendar.working_minutes_between(since, until, hours=hours, extra=extra) == counted
    assert calendar.add_working_minutes(since, counted, hours=hours, extra=extra) == over


def test_a_planted_clock_that_works_on_holidays_is_found(monkeypatch):
    found = test_working_minutes_equal_a_slow_clock.hypothesis.inner_test
    case = (TUESDAY, 16 * 60 + 30, 2 * 1440, (8, 17), False)
    found(*case)

    def without_holidays(day, hours, extra):
        midnight = calendar.local_midnight(day)
        ends = hours[1] if day.weekday() < 5 else hours[0]
        return midnight + timedelta(hours=hours[0]), midnight + timedelta(hours=ends)

    plant(monkeypatch, calendar, "_working_time", without_holidays)
    with pytest.raises(AssertionError):
        found(*case)
