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


class SetClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, at: datetime) -> None:
        self.set(at)

    def now(self) -> datetime:
        return self._at

    def set(self, at: datetime) -> None:
        if at.tzinfo is None:
            raise ValueError("a clock is set to an aware instant")
        self._at = at.astimezone(UTC)

    def move(self, delta: timedelta) -> None:
        self._at += delta


def of_sandbox(base_now: datetime, offset: timedelta) -> datetime:
    """The time in a sandbox organization, which only ever runs ahead of the base clock."""
    if offset < timedelta(0):
        raise ValueError("a sandbox clock moves forward only")
    return base_now + offset
