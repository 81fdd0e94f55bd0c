"""What the intake and the adapters of tender feeds share: windows, pages and answers (OPP-2)."""

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Window:
    """Days of publication, both included."""

    first: date
    last: date

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    def halves(self) -> "tuple[Window, Window]":
        """Two windows that cover the same days; the first is the longer one."""
        middle = self.first + timedelta(days=(self.days - 1) // 2)
        return Window(self.first, middle), Window(middle + timedelta(days=1), self.last)


@dataclass(frozen=True, slots=True)
class FeedAddress:
    """Where a feed is, and how large its pages are."""

    address: str
    page_size: int


@dataclass(frozen=True, slots=True)
class FeedPage:
    """One answer of a feed: the records as they were sent, each with its own bytes."""

    records: tuple[bytes, ...]
    has_next: bool
    content: bytes = b""

    @property
    def size(self) -> int:
        return len(self.records)


class FeedTrouble(StrEnum):
    """Why a feed gave no page."""

    UNAVAILABLE = "unavailable"  # 5xx, or no connection
    TIMED_OUT = "timed_out"
    RATE_LIMITED = "rate_limited"
    NOT_JSON = "not_json"  # a page for people, or half an answer
    SHAPE_CHANGED = "shape_changed"  # JSON that is no release package
    REFUSED = "refused"  # the address leads nowhere that we call, or the feed says no
    INTERNAL_ERROR = "internal_error"  # a page came and could not be applied


class FeedFailed(Exception):
    """A feed that gave no page; `retry_after` is the time it asked us to wait."""

    def __init__(self, trouble: FeedTrouble, retry_after: timedelta | None = None) -> None:
        super().__init__(trouble.value)
        self.trouble = trouble
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class FeedClock:
    """How a feed writes its times: its zone, and until when it called local time UTC (OPP-7)."""

    time_zone: str = "Africa/Johannesburg"
    wall_time_as_utc: bool = True
    fault_until: datetime | None = None

    def on(self, published: datetime | None) -> "FeedClock":
        """The clock of a record of that day: the fault ends when the publisher mended it."""
        if self.fault_until is None or published is None or published < self.fault_until:
            return self
        return replace(self, wall_time_as_utc=False)
