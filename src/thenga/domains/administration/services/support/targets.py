"""How urgent a case is, and by when it must be answered, in working minutes (ADM-19 to ADM-21)."""

from collections.abc import Set
from dataclasses import dataclass
from datetime import date, datetime

from thenga.domains.administration.public.support import Priority
from thenga.domains.administration.tables import Impact, Urgency
from thenga.kernel.values.calendar import add_working_minutes

_IMPACT: dict[Impact, int] = {
    "one_person": 1,
    "team": 2,
    "organization": 3,
    "many_organizations": 4,
}
_URGENCY: dict[Urgency, int] = {"low": 1, "medium": 2, "high": 3}
PRIORITIES: tuple[Priority, ...] = ("low", "normal", "high", "urgent")
# First response and resolution, in working minutes; a working day has 540.
TARGETS: dict[Priority, tuple[int, int]] = {
    "urgent": (60, 540),
    "high": (240, 1080),
    "normal": (540, 2700),
    "low": (1080, 5400),
}
_LOW, _NORMAL, _HIGH = 3, 4, 5


@dataclass(frozen=True, slots=True)
class Due:
    """By when a case must be answered and resolved."""

    first_response: datetime
    resolution: datetime


def priority_of(impact: Impact, urgency: Urgency, *, category: str) -> Priority:
    """The priority that follows from impact and urgency; security is at least high."""
    weight = _IMPACT[impact] + _URGENCY[urgency]
    found: Priority = (
        "low"
        if weight <= _LOW
        else "normal"
        if weight <= _NORMAL
        else "high"
        if weight <= _HIGH
        else "urgent"
    )
    return higher(found, "high") if category == "security" else found


def higher(a: Priority, b: Priority) -> Priority:
    """The more urgent of the two."""
    return max(a, b, key=PRIORITIES.index)


def due(priority: Priority, opened_at: datetime, *, extra: Set[date] = frozenset()) -> Due:
    """The two instants, counted in working minutes from the opening."""
    first, last = TARGETS[priority]
    return Due(
        add_working_minutes(opened_at, first, extra=extra),
        add_working_minutes(opened_at, last, extra=extra),
    )
