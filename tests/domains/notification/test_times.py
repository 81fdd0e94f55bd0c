"""When schedules and reminders are due."""

import sys
from datetime import UTC, date, datetime, timedelta
from types import FrameType

import pytest

from thenga.domains.notification.public import Offset
from thenga.domains.notification.services import reminders
from thenga.domains.notification.services.reminders import RuleRefused, recurrence

START = datetime(2027, 1, 4, 9, 0)  # noqa: DTZ001  # a local time
HOME = "Africa/Johannesburg"


@pytest.mark.rule("NOT-38")
@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("FREQ=DAILY;INTERVAL=0", "interval"),
        ("FREQ=SECONDLY", "frequency"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31", "day"),
        ("FREQ=DAILY;BYSECOND=1", "part"),
        ("FREQ=MONTHLY;BYDAY=6MO", "day"),
        ("FREQ=MONTHLY;INTERVAL=12;BYMONTH=3", "interval"),
        ("FREQ=YEARLY;INTERVAL=3;BYMONTHDAY=29;BYMONTH=2", "interval"),
        ("FREQ=YEARLY;BYDAY=5MO;BYMONTH=2", "empty"),
        ("FREQ=DAILY;BYMINUTE=0,10", "too_often"),
        ("FREQ=DAILY;BYHOUR=0,23;BYMINUTE=0,50", "too_often"),
        ("FREQ=DAILY;COUNT=0", "count"),
        ("FREQ=DAILY;COUNT=10001", "count"),
        ("freq=daily", "syntax"),
        ("FREQ=DAILY;FREQ=WEEKLY", "part"),
        ("FREQ=DAILY;UNTIL=20270231T000000", "syntax"),
        ("RRULE:FREQ=DAILY", "syntax"),
    ],
)
def test_a_rule_that_never_fires_is_refused_quickly(rule: str, fault: str) -> None:
    calls = 0

    def counting(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(counting)
    try:
        with pytest.raises(RuleRefused) as refused:
            recurrence(rule, START, HOME)
    finally:
        sys.setprofile(None)

    assert refused.value.fault == fault
    assert calls < 10_000  # the library alone would make tens of thousands


@pytest.mark.rule("NOT-38")
def test_a_yearly_day_means_the_month_of_its_start() -> None:
    found = recurrence("FREQ=YEARLY;BYMONTHDAY=15", START, HOME)

    assert found.after(START) == datetime(2027, 1, 15, 9, 0)  # noqa: DTZ001
    assert found.after(datetime(2027, 1, 15, 9, 0)) == datetime(2028, 1, 15, 9, 0)  # noqa: DTZ001


@pytest.mark.rule("NOT-38")
def test_a_skipped_local_time_becomes_the_next_instant() -> None:
    found = recurrence("FREQ=DAILY", datetime(2027, 3, 27, 2, 30), "Europe/Berlin")  # noqa: DTZ001
    skipped = found.after(datetime(2027, 3, 27, 12, 0))  # noqa: DTZ001

    assert skipped is not None
    assert found.instant(skipped) == datetime(2027, 3, 28, 1, 0, tzinfo=UTC)


def days(number: int, calendar: str = "working") -> Offset:
    return Offset.model_validate({"before": timedelta(days=number), "calendar": calendar})


CLOSING = datetime(2027, 4, 1, 9, tzinfo=UTC)
MOVED = datetime(2027, 4, 8, 9, tzinfo=UTC)


@pytest.mark.rule("NOT-39")
def test_working_days_skip_moved_holidays() -> None:
    assert reminders.due(days(5), CLOSING, HOME) == datetime(2027, 3, 23, 9, tzinfo=UTC)
    assert reminders.due(days(5), MOVED, HOME) == datetime(2027, 4, 1, 9, tzinfo=UTC)


@pytest.mark.rule("NOT-40")
@pytest.mark.parametrize(
    ("day", "number", "expected", "extra"),
    [
        ("2027-01-05", 3, "2026-12-30", ()),
        ("2026-12-17", 1, "2026-12-15", ()),
        ("2026-11-05", 1, "2026-11-03", ("2026-11-04",)),
        ("2026-12-27", 1, "2026-12-24", ()),
    ],
)
def test_working_day_vectors(day: str, number: int, expected: str, extra: tuple[str, ...]) -> None:
    deadline = datetime.fromisoformat(f"{day}T10:00:00+02:00")
    more = frozenset(date.fromisoformat(one) for one in extra)

    found = reminders.due(days(number), deadline, HOME, extra=more)

    assert found == datetime.fromisoformat(f"{expected}T10:00:00+02:00")


@pytest.mark.rule("NOT-39")
def test_a_moved_deadline_arms_fired_reminders_again() -> None:
    offsets = [days(5), days(1)]
    now = datetime(2027, 3, 24, 9, tzinfo=UTC)

    found = reminders.rearm(offsets, MOVED, HOME, fired={0}, now=now)

    assert found.due_at[0] == datetime(2027, 4, 1, 9, tzinfo=UTC)
    assert (found.rearmed, found.collapsed) == (1, 0)


@pytest.mark.rule("NOT-39")
def test_offsets_that_are_past_become_one_message() -> None:
    now = datetime(2027, 4, 7, 12, tzinfo=UTC)

    found = reminders.rearm([days(5), days(3)], MOVED, HOME, fired=set(), now=now)

    assert (dict(found.due_at), found.rearmed, found.collapsed) == ({}, 0, 2)
