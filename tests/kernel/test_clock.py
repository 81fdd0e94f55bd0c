from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.set_clock import SetClock
from thenga.kernel.values.clock import Clock, SystemClock, of_sandbox

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


def test_the_system_tells_utc():
    clock: Clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert clock.now() <= clock.now()


def test_a_set_clock_stands_until_it_is_moved():
    clock = SetClock(NOON)
    assert clock.now() == clock.now() == NOON
    clock.move(timedelta(days=400))
    assert clock.now() == NOON + timedelta(days=400)


def test_it_is_set_to_utc_whatever_the_zone():
    clock = SetClock(datetime(2026, 11, 14, 14, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now() == NOON
    assert clock.now().tzinfo is UTC


def test_a_naive_instant_is_refused():
    with pytest.raises(ValueError, match="aware"):
        SetClock(NOON.replace(tzinfo=None))


def test_a_sandbox_runs_ahead_and_never_behind():
    assert of_sandbox(NOON, timedelta(hours=1)) == NOON + timedelta(hours=1)
    with pytest.raises(ValueError, match="forward"):
        of_sandbox(NOON, timedelta(seconds=-1))
