"""When a delivery is tried again, as pure functions (NOT-30, NOT-31)."""

from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from thenga.domains.notification.services.templates import ChannelKind, Lane, Topic

MOST_TRIES = 8
# After so many attempts without a clear outcome a message is not sent again.
MOST_UNKNOWN = 2
_FIRST, _LONGEST = 15, 900
_SECURITY_FIRST, _SECURITY_LONGEST = 2, 20
_WAIT_FOR_REPORT = timedelta(minutes=5)
_WAIT_FOR_REPORT_SECURITY = timedelta(seconds=20)


def longest_delay(tries: int, lane: Lane) -> timedelta:
    """The upper bound of the delay after so many tries."""
    first, most = (_SECURITY_FIRST, _SECURITY_LONGEST) if lane == "security" else (_FIRST, _LONGEST)
    return timedelta(seconds=min(most, first * 2 ** min(tries - 1, 20)))


def delay(delivery_id: UUID, tries: int, lane: Lane) -> timedelta:
    """Uniform between zero and the bound, and the same whenever it is computed."""
    digest = sha256(f"{delivery_id}/{tries}".encode()).digest()
    return longest_delay(tries, lane) * (int.from_bytes(digest[:4], "big") / 2**32)


def next_try(
    delivery_id: UUID,
    tries: int,
    lane: Lane,
    *,
    at: datetime,
    expires_at: datetime,
    retry_after: timedelta | None = None,
) -> datetime | None:
    """When to try again; None if all tries are used or the message would be too late."""
    if lane != "security" and tries >= MOST_TRIES:
        return None
    due = at + max(delay(delivery_id, tries, lane), retry_after or timedelta(0))
    return due if due < expires_at else None


def wait_for_report(kind: ChannelKind, lane: Lane) -> timedelta:
    """How long an unclear outcome waits for the provider's report.

    A mail that arrives twice is recognised by its Message-ID, so it waits for nothing.
    """
    if kind == "email":
        return longest_delay(1, lane)
    return _WAIT_FOR_REPORT_SECURITY if lane == "security" else _WAIT_FOR_REPORT


def may_repeat(topic: Topic, kind: ChannelKind, unknown: int) -> bool:
    """Whether a message with an unclear outcome is sent once more."""
    important = topic.mandatory or topic.category in ("security", "legal_notice")
    return unknown < MOST_UNKNOWN and (kind == "email" or important)
