"""When certificates run out: what is shown, and the steps at which it is told (ORG-22).

Pure functions of days; the organization's own time zone makes days of instants.
"""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Africa/Johannesburg")
WINDOW_DAYS = (60, 30, 14, 7, 0)  # days left at which it is told, once each


class ExpiryState(StrEnum):
    VALID = "valid"
    EXPIRING = "expiring"
    EXPIRED = "expired"


def state_on(expires_on: date, today: date) -> ExpiryState:
    """`expiring` from 60 days left to the last valid day."""
    if today > expires_on:
        return ExpiryState.EXPIRED
    if (expires_on - today).days <= WINDOW_DAYS[0]:
        return ExpiryState.EXPIRING
    return ExpiryState.VALID


def steps(expires_on: date) -> list[tuple[datetime, int]]:
    """The instants at which this expiry is told, with the days left, earliest first."""
    return [(_midnight(expires_on - timedelta(days=left)), left) for left in WINDOW_DAYS]


def next_step(expiries: Iterable[date], after: datetime) -> datetime | None:
    """The first instant after a given one at which something is to be told."""
    ahead = [at for expires_on in expiries for at, _ in steps(expires_on) if at > after]
    return min(ahead, default=None)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(0), tzinfo=ZONE)
