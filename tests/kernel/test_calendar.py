from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.kernel.values import calendar

DAYS = st.dates(date(2000, 1, 1), date(2090, 12, 31))
HEAD_OFFICE_FLOOD = frozenset({date(2026, 11, 16)})


@pytest.mark.parametrize(
    "day",
    [
        date(2026, 8, 10),  # Women's Day on a Sunday, so its Monday
        date(2026, 11, 4),  # local government elections
        date(2026, 4, 3),  # Good Friday
        date(2026, 4, 6),  # Family Day
        date(2026, 12, 25),
        date(2026, 12, 26),  # Goodwill on a Saturday
        date(2027, 12, 27),  # Goodwill on a Sunday, so its Monday
        date(2026, 11, 14),  # a Saturday
        date(2026, 11, 15),  # a Sunday
    ],
)
def test_nobody_works(day):
    assert not calendar.is_working_day(day)


@pytest.mark.parametrize(
    "day",
    [
        date(2026, 11, 16),
        date(2026, 12, 28),  # a Saturday holiday is not moved
        date(2026, 3, 23),  # Human Rights Day 2026 is a Saturday
        date(2026, 12, 24),
    ],
)
def test_people_work(day):
    assert calendar.is_working_day(day)


def test_a_late_proclamation_is_passed_in():
    friday = date(2026, 11, 13)
    assert calendar.add_working_days(friday, 1) == date(2026, 11, 16)
    assert calendar.add_working_days(friday, 1, HEAD_OFFICE_FLOOD) == date(2026, 11, 17)
    assert calendar.working_days_between(friday, date(2026, 11, 17), HEAD_OFFICE_FLOOD) == 1
    assert calendar.next_working_day(date(2026, 11, 14), HEAD_OFFICE_FLOOD) == date(2026, 11, 17)


def test_counting_skips_the_december_holidays():
    assert calendar.add_working_days(date(2026, 12, 23), 3) == date(2026, 12, 29)
    assert calendar.add_working_days(date(2026, 12, 29), -3) == date(2026, 12, 23)
    assert calendar.add_working_days(date(2026, 12, 26), 0) == date(2026, 12, 26)


def test_the_next_working_day_is_the_day_itself_when_it_is_one():
    assert calendar.next_working_day(date(2026, 11, 13)) == date(2026, 11, 13)
    assert calendar.next_working_day(date(2026, 8, 8)) == date(2026, 8, 11)


@given(day=DAYS, n=st.integers(-60, 60).filter(bool))
def test_adding_and_counting_agree(day, n):
    there = calendar.add_working_days(day, n)
    assert calendar.is_working_day(there)
    assert calendar.working_days_between(day, there) == n


@given(a=DAYS, length=st.integers(0, 90))
def test_counting_equals_looking_at_each_day(a, length):
    after = [a + timedelta(days=i) for i in range(1, length + 1)]
    expected = sum(map(calendar.is_working_day, after))
    assert calendar.working_days_between(a, a + timedelta(days=length)) == expected


def test_the_local_day_begins_two_hours_before_that_of_utc():
    assert calendar.local_day(datetime(2026, 11, 14, 21, 59, tzinfo=UTC)) == date(2026, 11, 14)
    assert calendar.local_day(datetime(2026, 11, 14, 22, 0, tzinfo=UTC)) == date(2026, 11, 15)
    assert calendar.local_day(datetime(2026, 11, 14, 22, 0, tzinfo=UTC), "UTC").day == 14


def test_a_naive_instant_has_no_day():
    with pytest.raises(ValueError, match="aware"):
        calendar.local_day(datetime(2026, 11, 14, 22, 0))  # noqa: DTZ001 (naive on purpose)


@given(day=DAYS)
def test_local_day_begins_exactly_at_midnight(day):
    midnight = calendar.local_midnight(day)
    assert calendar.local_day(midnight) == day
    assert calendar.local_day(midnight - timedelta(microseconds=1)) == day - timedelta(days=1)
