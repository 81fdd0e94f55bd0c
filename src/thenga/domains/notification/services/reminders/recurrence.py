"""Recurring schedules: a checked subset of RFC 5545, in local time (NOT-38).

The grammar is checked before the library sees a rule, because the library loops for ever on
INTERVAL=0 and for seconds on a day that does not exist.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from itertools import pairwise, product
from typing import Literal

from dateutil.rrule import rrule, rrulestr

from thenga.kernel.values.calendar import local_instant

RuleFault = Literal[
    "syntax", "part", "frequency", "interval", "count", "list", "day", "too_often", "empty"
]

LEAST_APART = timedelta(minutes=15)
_HORIZON = timedelta(days=5 * 366)
_ONE_DAY = timedelta(days=1)
_FREQUENCIES = {"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}
_MOST_INTERVAL = 366
_MOST_COUNT = 10_000
_MOST_ENTRIES = 31
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_BOUNDS = {"BYMONTHDAY": (1, 31), "BYMONTH": (1, 12), "BYHOUR": (0, 23), "BYMINUTE": (0, 59)}
_PART = re.compile(r"[A-Z]+=[A-Z0-9,+:-]+")
_WEEKDAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_PARTS = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", *_BOUNDS}


class RuleRefused(ValueError):
    """A recurrence rule that cannot be used, and why."""

    def __init__(self, fault: RuleFault) -> None:
        super().__init__(fault)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A rule and where it starts, in local time."""

    rule: str
    starts_at: datetime  # without a time zone
    zone: str

    def following(self, local: datetime) -> Iterator[datetime]:
        """The local times after `local`, in their order."""
        found: Iterator[datetime] = self._made().xafter(local)
        return found

    def after(self, local: datetime) -> datetime | None:
        """The first local time after `local`, or None if there is none any more."""
        found: datetime | None = self._made().after(local)
        return found

    def latest(self, local: datetime) -> datetime | None:
        """The last local time up to and including `local`."""
        found: datetime | None = self._made().before(local, inc=True)
        return found

    def instant(self, local: datetime) -> datetime:
        """When that local time is."""
        return local_instant(local.date(), local.time(), self.zone)

    def _made(self) -> rrule:
        made = rrulestr(_completed(self.rule, self.starts_at), dtstart=self.starts_at)
        assert isinstance(made, rrule)  # noqa: S101  # one rule and no set
        return made


def recurrence(rule: str, starts_at: datetime, zone: str) -> Recurrence:
    """The recurrence of a checked rule; `RuleRefused` if it cannot be used."""
    parts = _parts(rule)
    _check_parts(parts)
    _check_days(parts)
    _check_pace(parts, starts_at)
    made = Recurrence(rule, starts_at, zone)
    first = made.after(starts_at - timedelta(seconds=1))
    if first is None or first - starts_at > _HORIZON:
        raise RuleRefused("empty")
    return made


def _parts(rule: str) -> dict[str, str]:
    found = rule.split(";")
    if not all(_PART.fullmatch(one) for one in found):
        raise RuleRefused("syntax")
    parts = dict(one.split("=") for one in found)
    if len(parts) != len(found) or not parts.keys() <= _PARTS:
        raise RuleRefused("part")
    return parts


def _check_parts(parts: Mapping[str, str]) -> None:
    if parts.get("FREQ") not in _FREQUENCIES:
        raise RuleRefused("frequency")
    if not _between(parts.get("INTERVAL", "1"), 1, _MOST_INTERVAL):
        raise RuleRefused("interval")
    if not _between(parts.get("COUNT", "1"), 1, _MOST_COUNT):
        raise RuleRefused("count")
    for name, (least, most) in _BOUNDS.items():
        entries = parts[name].split(",") if name in parts else []
        if len(entries) > _MOST_ENTRIES or not all(_between(e, least, most) for e in entries):
            raise RuleRefused("list")
    try:
        if "UNTIL" in parts:
            datetime.strptime(parts["UNTIL"], "%Y%m%dT%H%M%S")  # noqa: DTZ007  # local time
    except ValueError:
        raise RuleRefused("syntax") from None


def _between(text: str, least: int, most: int) -> bool:
    return text.isascii() and text.isdigit() and least <= int(text) <= most


def _check_days(parts: Mapping[str, str]) -> None:
    """Only days that exist; a filter and an interval together could never meet."""
    months = _numbers(parts, "BYMONTH") or range(1, 13)
    days = _numbers(parts, "BYMONTHDAY")
    if days and not any(day <= _LONGEST[month - 1] for month, day in product(months, days)):
        raise RuleRefused("day")
    most = 5 if parts["FREQ"] == "MONTHLY" or "BYMONTH" in parts else 53
    for entry in parts["BYDAY"].split(",") if "BYDAY" in parts else ():
        found = _WEEKDAY.fullmatch(entry)
        if found is None or not 1 <= abs(int(found[1] or 1)) <= most:
            raise RuleRefused("day")
        if found[1] and parts["FREQ"] in ("DAILY", "WEEKLY"):
            raise RuleRefused("day")
    filters = {
        "DAILY": {"BYMONTH", "BYMONTHDAY", "BYDAY"},
        "WEEKLY": {"BYMONTH", "BYMONTHDAY"},
        "MONTHLY": {"BYMONTH"},
        "YEARLY": {"BYMONTHDAY"} if days == [29] else set[str](),
    }
    if int(parts.get("INTERVAL", "1")) > 1 and filters[parts["FREQ"]] & parts.keys():
        raise RuleRefused("interval")


def _check_pace(parts: Mapping[str, str], starts_at: datetime) -> None:
    hours = _numbers(parts, "BYHOUR") or [starts_at.hour]
    minutes = _numbers(parts, "BYMINUTE") or [starts_at.minute]
    day = starts_at.date()
    times = sorted(datetime.combine(day, time(h, m)) for h, m in product(set(hours), set(minutes)))
    if any(b - a < LEAST_APART for a, b in pairwise([*times, times[0] + _ONE_DAY])):
        raise RuleRefused("too_often")


def _numbers(parts: Mapping[str, str], name: str) -> list[int]:
    return [int(one) for one in parts[name].split(",")] if name in parts else []


def _completed(rule: str, starts_at: datetime) -> str:
    """A yearly rule with a day of the month and no month means the month of its start."""
    if "FREQ=YEARLY" in rule and "BYMONTHDAY=" in rule and "BYMONTH=" not in rule:
        return f"{rule};BYMONTH={starts_at.month}"
    return rule
