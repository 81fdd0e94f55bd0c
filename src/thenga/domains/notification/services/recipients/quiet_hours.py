"""Quiet hours: when messages on loud channels wait until the morning (NOT-10)."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from thenga.domains.notification.services.templates import ChannelKind
from thenga.kernel.values.calendar import HOME_ZONE, local_instant

# A message that would arrive this close to its deadline does not wait.
LEAST_LEAD = timedelta(hours=4)
EVERY_DAY = frozenset(range(7))
_ONE_DAY = timedelta(days=1)


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
    if ends is None or (deadline is not None and deadline - ends < LEAST_LEAD):
        return None
    return ends
