"""The windows in which an approaching last day is told, each once (CMP-25)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

DEFAULT_WINDOWS = (90, 60, 30, 14, 7)
EXPIRED = 0  # the window of a paper that is over

_ONE_DAY = timedelta(days=1)


class Validity(StrEnum):
    """Validity of a document on a day."""

    VALID = "valid"
    EXPIRING = "expiring"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    NO_EXPIRY = "no_expiry"
    UNDATED = "undated"


class ExpiryState(StrEnum):
    """The state of an entry on the expiry list."""

    VALID = "valid"
    EXPIRING = "expiring"
    EXPIRED = "expired"
    RENEWAL_IN_PROGRESS = "renewal_in_progress"
    RENEWAL_LATE = "renewal_late"


@dataclass(frozen=True, slots=True)
class Opened:
    """A window that has opened and is not told yet."""

    window: int
    is_late: bool


def days_left(last_day: date, today: date) -> int:
    """Days after today until the last good day; 0 on that day, negative afterwards."""
    return (last_day - today).days


def window_of(last_day: date, today: date, windows: Sequence[int]) -> int | None:
    """The narrowest open window, `EXPIRED` past the last day, None before the first opens."""
    left = days_left(last_day, today)
    if left < 0:
        return EXPIRED
    return min((window for window in windows if left <= window), default=None)


def opens_on(last_day: date, window: int) -> date:
    """The day on which a window opens; the expired one opens the day after the last good day."""
    return last_day + _ONE_DAY if window == EXPIRED else last_day - timedelta(days=window)


def validity_on(
    today: date,
    *,
    last_day: date | None,
    is_undated: bool,
    issued_on: date | None,
    windows: Sequence[int],
) -> Validity:
    """The state of a paper on a day, from its days alone."""
    if issued_on is not None and issued_on > today:
        return Validity.NOT_YET_VALID
    if last_day is None:
        return Validity.UNDATED if is_undated else Validity.NO_EXPIRY
    window = window_of(last_day, today, windows)
    if window is None:
        return Validity.VALID
    return Validity.EXPIRED if window == EXPIRED else Validity.EXPIRING


def newly_opened(
    last_day: date,
    today: date,
    *,
    known_since: date,
    told: Sequence[int],
    windows: Sequence[int],
) -> list[Opened]:
    """Windows to tell now, widest first and the expiry last.

    A window that had opened before the paper was known is told only if it was the narrowest one
    then: a paper that came with 20 days left is told for window 30 and not for 90 and 60. One that
    opened before today is late.
    """
    first = window_of(last_day, known_since, windows)
    found = []
    for window in (*sorted(set(windows), reverse=True), EXPIRED):
        opened = opens_on(last_day, window)
        if opened > today or window in told:
            continue
        if opened <= known_since and window != first:
            continue
        found.append(Opened(window, is_late=max(opened, known_since) < today))
    return found


def next_opening(last_day: date, today: date, windows: Sequence[int]) -> date | None:
    """The next day on which a window opens, or None where all have."""
    days = (opens_on(last_day, window) for window in (*windows, EXPIRED))
    return min((day for day in days if day > today), default=None)


def state_of(
    validity_window: int | None, *, renewal_expected_on: date | None, today: date
) -> ExpiryState:
    """The state of an entry; a renewal is shown and never prolongs a paper."""
    if validity_window == EXPIRED:
        return ExpiryState.EXPIRED
    if renewal_expected_on is not None:
        is_late = renewal_expected_on < today
        return ExpiryState.RENEWAL_LATE if is_late else ExpiryState.RENEWAL_IN_PROGRESS
    return ExpiryState.VALID if validity_window is None else ExpiryState.EXPIRING
