"""Quiet hours: when messages on loud channels wait until the morning (NOT-10)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from thenga.domains.notification.services.templates import ChannelKind
from thenga.kernel.values.calendar import HOME_ZONE, local_instant

# A message that would arrive this close to its deadline does not wait.
LEAST_LEAD = timedelta(hours=4)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
EVERY_DAY = frozenset(range(7))
_ONE_DAY = timedelta(days=1)
_SPREAD_SECONDS = 301


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `begins` to `ends` local time; past midnight if `begins` is later than `ends`.

    `days` are the weekdays on which a quiet period begins, Monday is 0.
    """

    begins: time = time(20)
    ends: time = time(7)
    days: frozenset[int] = EVERY_DAY
    channels: frozenset[ChannelKind] = frozenset({"sms"})
    zone: str = HOME_ZONE
    lead: timedelta = LEAST_LEAD

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None, *, lead: timedelta = LEAST_LEAD) -> "QuietHours":
        """Quiet hours as a preference stores them; without any, the default."""
        if stored is None:
            return cls(lead=lead)
        return cls(
            begins=time.fromisoformat(stored["from"]),
            ends=time.fromisoformat(stored["to"]),
            days=frozenset(WEEKDAYS.index(one) for one in stored["days"]),
            channels=frozenset(stored["channels"]),
            zone=stored["timeZone"],
            lead=lead,
        )


def quiet_until(hours: QuietHours, at: datetime) -> datetime | None:
    """The end of the quiet period that `at` lies in, or None outside of one."""
    today = at.astimezone(ZoneInfo(hours.zone)).date()
    for day in (today - _ONE_DAY, today):
        begins, ends = _period(hours, day)
        if day.weekday() in hours.days and begins <= at < ends:
            return ends
    return None


def _period(hours: QuietHours, day: date) -> tuple[datetime, datetime]:
    last = day if hours.begins < hours.ends else day + _ONE_DAY
    return (
        local_instant(day, hours.begins, hours.zone),
        local_instant(last, hours.ends, hours.zone),
    )


def held_until(
    hours: QuietHours, channel: ChannelKind, at: datetime, *, deadline: datetime | None
) -> datetime | None:
    """Until when a message on this channel waits; None if it can go now."""
    ends = quiet_until(hours, at) if channel in hours.channels else None
    if ends is None or (deadline is not None and deadline - ends < hours.lead):
        return None
    return ends


def release_at(ends: datetime, delivery_id: UUID) -> datetime:
    """When a held delivery is sent: up to five minutes late, so that not all leave at once."""
    digest = hashlib.sha256(delivery_id.bytes).digest()
    return ends + timedelta(seconds=int.from_bytes(digest[:4]) % _SPREAD_SECONDS)
