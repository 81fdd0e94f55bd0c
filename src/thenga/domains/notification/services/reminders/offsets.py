"""When a reminder before a deadline is due, and what happens when the deadline moves (NOT-39)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from thenga.domains.notification.public import Offset
from thenga.kernel.values.calendar import add_working_days, local_instant

_ONE_DAY = timedelta(days=1)


def due(
    offset: Offset, deadline: datetime, zone: str, *, extra: Set[date] = frozenset()
) -> datetime:
    """The instant of one offset before the deadline; the deadline's own day is not counted."""
    if offset.calendar == "clock":
        return deadline - offset.before
    local = deadline.astimezone(ZoneInfo(zone))
    days = offset.before // _ONE_DAY
    if offset.calendar == "working":
        day = add_working_days(local.date(), -days, extra)
    else:
        day = local.date() - days * _ONE_DAY
    clock = offset.at_local_time or local.time().replace(tzinfo=None)
    return local_instant(day, clock, zone)


@dataclass(frozen=True, slots=True)
class Rearmed:
    """The offsets of a moved deadline: those still to come, and what became of the others."""

    due_at: Mapping[int, datetime]
    rearmed: int
    collapsed: int


def rearm(
    offsets: Sequence[Offset],
    deadline: datetime,
    zone: str,
    *,
    fired: Set[int],
    now: datetime,
    extra: Set[date] = frozenset(),
) -> Rearmed:
    """Every offset anew: what is ahead is armed, fired or not; what is past becomes one message."""
    all_due = {
        number: due(offset, deadline, zone, extra=extra) for number, offset in enumerate(offsets)
    }
    ahead = {number: at for number, at in all_due.items() if at > now}
    past = len(all_due) - len(ahead)
    return Rearmed(ahead, rearmed=len(ahead.keys() & fired), collapsed=past)
