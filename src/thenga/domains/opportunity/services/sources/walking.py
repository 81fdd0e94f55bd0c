"""The walk over a feed by windows of days, because its pages lose rows (OPP-2).

A window must fit one page. What does not fit is halved down to a day; a day that does not fit is
read page by page, again and again, until two readings in a row bring nothing new.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Self

from thenga.domains.opportunity.values.feeds import Window

POLL_DAYS = 3
_MOST_PASSES = 4
_QUIET_PASSES = 2
_MOST_PAGES = 400  # of one day; a feed that never ends must


def windows_between(first: date, last: date, *, days: int) -> tuple[Window, ...]:
    """Windows of at most so many days that cover the span, newest first."""
    found = []
    while last >= first:
        begin = max(first, last - timedelta(days=days - 1))
        found.append(Window(begin, last))
        last = begin - timedelta(days=1)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a walk is: what is left, and the day that is being read page by page."""

    waiting: tuple[Window, ...]
    page: int = 1
    passes: int = 0
    quiet_passes: int = 0
    is_new_in_pass: bool = False
    keys_of_day: frozenset[str] = frozenset()

    @property
    def window(self) -> Window | None:
        """The window to ask for next; None at the end."""
        return self.waiting[0] if self.waiting else None

    def after(self, keys: Sequence[str], *, has_next: bool, page_size: int) -> "Walk":
        """Where the walk is after an answer with these keys."""
        window = self.waiting[0]
        fits = len(keys) < page_size and not has_next
        if self.page == 1 and self.passes == 0 and fits:
            return Walk(self.waiting[1:])
        if window.days > 1:
            return Walk((*window.halves(), *self.waiting[1:]))
        return self._in_day(keys, is_last=not has_next and len(keys) < page_size)

    def _in_day(self, keys: Sequence[str], *, is_last: bool) -> "Walk":
        known = self.keys_of_day | frozenset(keys)
        grown = self.is_new_in_pass or len(known) > len(self.keys_of_day)
        if not is_last and self.page < _MOST_PAGES:
            return replace(self, page=self.page + 1, is_new_in_pass=grown, keys_of_day=known)
        quiet = 0 if grown else self.quiet_passes + 1
        passes = self.passes + 1
        if passes >= _MOST_PASSES or quiet >= _QUIET_PASSES:
            return Walk(self.waiting[1:])
        return Walk(self.waiting, passes=passes, quiet_passes=quiet, keys_of_day=known)

    def to_row(self) -> dict[str, Any]:
        """The walk as it is stored with each page, so that a killed run goes on."""
        return {
            "windows": [[f"{w.first:%Y-%m-%d}", f"{w.last:%Y-%m-%d}"] for w in self.waiting],
            "page": self.page,
            "passes": self.passes,
            "quietPasses": self.quiet_passes,
            "isNewInPass": self.is_new_in_pass,
            "keysOfDay": sorted(self.keys_of_day),
        }

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Self:
        windows = [Window(date.fromisoformat(a), date.fromisoformat(b)) for a, b in row["windows"]]
        return cls(
            tuple(windows),
            row["page"],
            row["passes"],
            row["quietPasses"],
            row["isNewInPass"],
            frozenset(row["keysOfDay"]),
        )
