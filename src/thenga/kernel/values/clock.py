"""The only module that reads the wall clock, so that a sandbox or a test can move time."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Whatever can say what time it is, in UTC and aware."""

    def now(self) -> datetime: ...


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def of_sandbox(base_now: datetime, offset: timedelta) -> datetime:
    """The time in a sandbox organization, which only ever runs ahead of the base clock."""
    if offset < timedelta(0):
        raise ValueError("a sandbox clock moves forward only")
    return base_now + offset
