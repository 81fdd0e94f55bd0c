"""When papers run out: what is shown, and the steps at which it is told (ORG-22).

Pure functions of days; South African days are made of instants in one zone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from thenga.kernel.values.calendar import local_midnight

ZONE = ZoneInfo("Africa/Johannesburg")
_FIRST_DAY, _LAST_DAY = date(1900, 1, 1), date(2200, 12, 31)  # of all that a body can name
WINDOW_DAYS = (60, 30, 14, 7, 0)  # days left at which it is told, once each
# Road traffic regulation 23(3): a licence disc may be renewed for 21 days more. It is not valid
# in these days wherever proof is asked.
GRACE_DAYS = {"licence": 21}


class ExpiryState(StrEnum):
    VALID = "valid"
    EXPIRING = "expiring"
    IN_GRACE = "in_grace"
    EXPIRED = "expired"
    NOT_GIVEN = "not_given"


@dataclass(frozen=True)
class Expiry:
    """One paper and its last valid day."""

    kind: str
    on: date

    @property
    def grace_days(self) -> int:
        return GRACE_DAYS.get(self.kind, 0)


def state_on(expiry: Expiry | None, today: date) -> ExpiryState:
    """`expiring` from 60 days left to the last valid day; then grace, where there is one."""
    if expiry is None:
        return ExpiryState.NOT_GIVEN
    left = (expiry.on - today).days
    if left > WINDOW_DAYS[0]:
        return ExpiryState.VALID
    if left >= 0:
        return ExpiryState.EXPIRING
    return ExpiryState.IN_GRACE if -left <= expiry.grace_days else ExpiryState.EXPIRED


def days_in(state: ExpiryState, today: date, grace_days: int = 0) -> tuple[date, date]:
    """The first and the last day on which a paper may end to be in that state today."""
    far, yesterday = timedelta(days=WINDOW_DAYS[0]), today - timedelta(days=1)
    in_grace = today - timedelta(days=grace_days)
    return {
        ExpiryState.VALID: (today + far + timedelta(days=1), _LAST_DAY),
        ExpiryState.EXPIRING: (today, today + far),
        ExpiryState.IN_GRACE: (in_grace, yesterday),
        ExpiryState.EXPIRED: (_FIRST_DAY, in_grace - timedelta(days=1)),
    }[state]


def steps(expiry: Expiry) -> list[tuple[datetime, int]]:
    """The instants at which this expiry is told, with the days left, earliest first."""
    told = (*WINDOW_DAYS, -expiry.grace_days) if expiry.grace_days else WINDOW_DAYS
    return [(local_midnight(expiry.on - timedelta(days=left)), left) for left in told]


def next_step(expiries: Iterable[Expiry], after: datetime) -> datetime | None:
    """The first instant after a given one at which something is to be told."""
    return min((at for one in expiries for at, _ in steps(one) if at > after), default=None)


def next_expiry(expiries: Iterable[Expiry], today: date) -> date | None:
    """The last valid day that comes first, as it is today."""
    return min((one.on for one in expiries if one.on >= today), default=None)
