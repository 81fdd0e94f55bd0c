"""When a provider is polled again. No answer means unknown, not failed (BIL-32)."""

from datetime import datetime, timedelta

_FIRST = tuple(timedelta(minutes=n) for n in (1, 5, 15, 60))
_LATER = tuple(timedelta(hours=n) for n in range(6, 73, 6))
_AFTER = (*_FIRST, *_LATER)

OPEN_FOR = timedelta(hours=24)  # how long a customer may take to pay
TRANSFER_FOR = timedelta(days=14)  # a bank transfer takes days, and staff confirm it by hand
FAULT_PAUSE = timedelta(hours=1)
MOST_FAULTS = 6


def next_poll_at(begun: datetime, now: datetime) -> datetime | None:
    """The next poll for something started then. None after three days."""
    return next((begun + after for after in _AFTER if begun + after > now), None)


def next_poll_while_open(begun: datetime, now: datetime) -> datetime:
    """The next poll while the customer can still pay."""
    ends = begun + OPEN_FOR
    return min(next_poll_at(begun, now) or ends, ends)
