"""Periods, notices and days as instants: pure functions of days."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thenga.domains.billing.services.pricing import periods
from thenga.domains.billing.services.pricing.periods import Period
from thenga.domains.billing.services.subscriptions import pause_rules
from thenga.domains.billing.services.subscriptions.pause_rules import PauseLimit
from thenga.domains.billing.services.trials import dates as trial_calendar
from thenga.domains.billing.settings import PausePolicy, TrialPolicy
from thenga.domains.billing.tables import Interval
from thenga.kernel.values.calendar import local_midnight

M, Y = Interval.MONTH, Interval.YEAR
DAYS = st.dates(date(2020, 1, 1), date(2080, 12, 31))
INTERVALS = st.sampled_from(Interval)


@pytest.mark.rule("BIL-6")
def test_periods_count_from_the_anchor_within_each_month():
    starts = [periods.start_of(date(2027, 1, 31), M, k) for k in range(14)]

    shown = [f"{day:%m-%d}" for day in starts]
    print(f"anchor=2027-01-31 starts={','.join(shown)}")
    assert shown == [
        *("01-31", "02-28", "03-31", "04-30", "05-31", "06-30", "07-31", "08-31"),
        *("09-30", "10-31", "11-30", "12-31", "01-31", "02-29"),
    ]
    assert starts[13] == date(2028, 2, 29)


@pytest.mark.rule("BIL-6")
def test_a_yearly_leap_day_comes_back_every_fourth_year():
    starts = [periods.start_of(date(2028, 2, 29), Y, k) for k in range(5)]

    assert starts == [
        *(date(2028, 2, 29), date(2029, 2, 28), date(2030, 2, 28), date(2031, 2, 28)),
        date(2032, 2, 29),
    ]


def drifting(anchor: date, interval: Interval, number: int) -> date:
    """The planted bug: each period counted from the one before it."""
    day = anchor
    for _ in range(number):
        day = periods.start_of(day, interval, 1)
    return day


def test_planted_period_counted_from_the_last_one_is_found():
    assert drifting(date(2027, 1, 31), M, 2) == date(2027, 3, 28)
    assert periods.start_of(date(2027, 1, 31), M, 2) == date(2027, 3, 31)


@pytest.mark.rule("BIL-6")
@given(anchor=DAYS, interval=INTERVALS, day=DAYS)
def test_every_day_belongs_to_exactly_one_period(anchor, interval, day):
    one = periods.period_containing(anchor, interval, day)

    assert one.start <= day < one.end
    assert periods.period_containing(anchor, interval, one.end).start == one.end
    assert (
        periods.period_containing(anchor, interval, one.start - timedelta(days=1)).end == one.start
    )


@given(anchor=DAYS, number=st.integers(-600, 600))
def test_an_anchor_never_drifts(anchor, number):
    start = periods.start_of(anchor, M, number)
    after = start + timedelta(days=1)

    assert start.day == anchor.day or (start.day < anchor.day and after.month != start.month)


def test_usage_months_follow_the_anchor_of_a_yearly_plan():
    assert periods.usage_month(date(2026, 11, 14), date(2027, 3, 1)) == Period(
        date(2027, 2, 14), date(2027, 3, 14)
    )


def test_a_period_is_instants_at_local_midnight():
    period = periods.period_number(date(2026, 11, 14), M, 0)

    assert period.days == 30
    assert period.starts_at == datetime(2026, 11, 13, 22, tzinfo=UTC)
    assert period.ends_at == datetime(2026, 12, 13, 22, tzinfo=UTC)


@pytest.mark.rule("BIL-14")
def test_a_renewal_is_told_days_before():
    assert periods.renewal_notice_at(date(2026, 12, 14), 3) == datetime(
        2026, 12, 10, 22, tzinfo=UTC
    )
    assert periods.renewal_notice_at(date(2027, 11, 14), 30) == datetime(
        2027, 10, 14, 22, tzinfo=UTC
    )


# --- trials ---------------------------------------------------------------------------------------


@pytest.mark.rule("BIL-16")
def test_trial_ends_at_local_midnight_after_fourteen_days():
    began = datetime(2026, 11, 14, 8, tzinfo=UTC)

    dates = trial_calendar.dates(began, TrialPolicy())

    print(f"trial startedAt={began:%FT%TZ} noticeAt={dates.notice_at:%FT%TZ} ", end="")
    print(f"endsAt={dates.ends_at:%FT%TZ}")
    assert dates.ends_at == datetime(2026, 11, 28, 22, tzinfo=UTC)
    assert dates.notice_at == datetime(2026, 11, 25, 22, tzinfo=UTC)


@given(day=DAYS, second=st.integers(0, 86_399))
def test_every_trial_lasts_fourteen_to_fifteen_days(day, second):
    began = local_midnight(day) + timedelta(seconds=second)
    length = trial_calendar.dates(began, TrialPolicy()).ends_at - began

    assert timedelta(days=14) < length <= timedelta(days=15)


@pytest.mark.parametrize(
    ("now", "left", "ending"),
    [
        (datetime(2026, 11, 14, 8, tzinfo=UTC), 15, False),
        (datetime(2026, 11, 25, 21, 59, 59, tzinfo=UTC), 4, False),
        (datetime(2026, 11, 25, 22, tzinfo=UTC), 3, True),
        (datetime(2026, 11, 28, 21, 59, 59, tzinfo=UTC), 1, True),
        (datetime(2026, 11, 28, 22, tzinfo=UTC), 0, False),
    ],
)
def test_a_trial_shows_what_time_has_made_of_it(now: datetime, left: int, ending: bool):
    dates = trial_calendar.dates(datetime(2026, 11, 14, 8, tzinfo=UTC), TrialPolicy())

    assert trial_calendar.days_left(dates.ends_at, now) == left
    assert trial_calendar.is_ending(dates.notice_at, dates.ends_at, now) is ending


# --- pauses ---------------------------------------------------------------------------------------


@pytest.mark.rule("BIL-13")
def test_days_that_were_paid_for_are_banked_and_go_on():
    period = Period(date(2026, 11, 14), date(2026, 12, 14))

    banked = pause_rules.banked_days(period, date(2026, 11, 24))
    end = pause_rules.resumed_end(date(2027, 1, 10), banked)

    print(f"paused=2026-11-24 banked={banked} resumed=2027-01-10 ends={end} anchor={end.day}")
    assert (banked, end) == (19, date(2027, 1, 29))


@given(start=DAYS, used=st.integers(0, 29), rest=st.integers(1, 90))
def test_a_pause_neither_gives_nor_takes_a_day(start, used, rest):
    period = Period(start, start + timedelta(days=30))
    paused_on = start + timedelta(days=used)
    resumed_on = paused_on + timedelta(days=rest)

    end = pause_rules.resumed_end(resumed_on, pause_rules.banked_days(period, paused_on))

    enjoyed = (paused_on - start).days + 1 + (end - resumed_on).days
    assert enjoyed == period.days


def test_a_pause_is_bounded():
    policy = PausePolicy()
    day = date(2026, 11, 24)

    assert pause_rules.resumes_by(day, None, policy) == date(2027, 2, 22)
    assert pause_rules.resumes_by(day, date(2026, 12, 1), policy) == date(2026, 12, 1)
    with pytest.raises(PauseLimit):
        pause_rules.resumes_by(day, date(2027, 2, 23), policy)
    pause_rules.check_another([date(2025, 11, 24), date(2026, 1, 1)], day, policy)
    with pytest.raises(PauseLimit, match="from 2026-11-25"):
        pause_rules.check_another([date(2025, 11, 25), date(2026, 1, 1)], day, policy)
