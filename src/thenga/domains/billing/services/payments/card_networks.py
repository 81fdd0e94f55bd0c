"""Decline codes of card networks, and how often they allow retries (BIL-42)."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from thenga.domains.billing.tables import FailureCategory

MONTH = timedelta(days=30)
_DAY = timedelta(hours=24)
_MOST_IN_A_DAY, _MOST_IN_A_MONTH = 10, 15

# Network codes after which a card must not be charged again (BIL-42).
_HARD = frozenset({"04", "07", "12", "14", "15", "41", "43", "46", "57", "R0", "R1", "R3"})


def next_attempt_at(attempts: Sequence[datetime], now: datetime) -> datetime:
    """When the networks allow another charge of this amount (BIL-42)."""
    earliest = now
    for window, most in ((_DAY, _MOST_IN_A_DAY), (MONTH, _MOST_IN_A_MONTH)):
        recent = sorted(at for at in attempts if now - at < window)
        if len(recent) >= most:
            earliest = max(earliest, recent[-most] + window)
    return earliest


def category_of(network_code: str) -> FailureCategory:
    """Whether a network code is final. All other codes can be retried."""
    return FailureCategory.HARD if network_code.upper() in _HARD else FailureCategory.SOFT
