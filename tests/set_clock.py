"""A clock for tests."""

from datetime import UTC, datetime, timedelta


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
