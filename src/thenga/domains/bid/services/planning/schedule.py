"""Counting backwards from the closing, as pure functions: working days, no clock (BID-7)."""

from collections.abc import Iterable, Mapping, Set
from datetime import date, datetime, time
from graphlib import CycleError, TopologicalSorter
from uuid import UUID

from thenga.kernel.values.calendar import add_working_days, local_day, local_instant

# Working days before the closing day, which is not counted.
STANDARD: dict[str, tuple[str, int]] = {
    "kick_off": ("Kick-off", 10),
    "first_drafts": ("First drafts", 8),
    "prices_checked": ("Prices checked", 6),
    "review": ("Review", 5),
    "forms_signed": ("Forms signed", 4),
    "price_approved": ("Price approved", 4),
    "pack_valid": ("Pack valid", 3),
    "pack_sealed": ("Pack sealed", 2),
    "delivered": ("Delivered", 1),
}


def due_before(
    closing_at: datetime, days: int, *, due_time: time, zone: str, extra: Set[date]
) -> datetime:
    """The due time that many working days before the closing day; on the day itself no later."""
    day = add_working_days(local_day(closing_at, zone), -days, extra)
    return min(local_instant(day, due_time, zone), closing_at)


def find_cycle(depends_on: Mapping[UUID, Iterable[UUID]]) -> list[UUID]:
    """The tasks of a circle in the order in which each waits for the next; empty without one."""
    try:
        TopologicalSorter({key: list(value) for key, value in depends_on.items()}).prepare()
    except CycleError as error:
        path: list[UUID] = error.args[1]
        return path[::-1]
    return []
