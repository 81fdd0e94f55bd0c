"""The five dashboards: figures of the workers of every domain, and counts of our own."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from thenga.domains.administration.services.dashboards import counts
from thenga.domains.administration.services.dashboards.asking import ask_all
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.positions import cut
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound
from thenga.kernel.standing.figures import Figures, FigureValue

OWN = "administration"
_DELIVERING = "notification"


class WidgetState(StrEnum):
    """State of a widget. `unknown`: the figure was not reported recently."""

    OK = "ok"
    WARN = "warn"
    ALARM = "alarm"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Board:
    """One built-in dashboard."""

    code: str
    title: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What a figure counts, and from which value it is a warning or an alarm."""

    unit: str
    warn: int
    alarm: int


@dataclass(frozen=True, slots=True)
class Widget:
    """One figure of one domain."""

    figure_key: str
    domain: str
    value: int | None
    unit: str
    as_of: datetime | None
    state: WidgetState

    @property
    def widget_key(self) -> str:
        return f"{self.domain}.{self.figure_key}"


BOARDS = {
    one.code: one
    for one in (
        Board("change-control", "Changes that need attention"),
        Board("deliveries", "Messages to customers"),
        Board("governance", "Reviews, findings and credentials"),
        Board("platform-health", "Workers of every domain"),
        Board("support", "Support cases"),
    )
}
# Every domain reports these; one that says nothing shows each of them as unknown (ADM-42).
REPORTED = {
    "outbox.waiting": Limits("events", 1_000, 10_000),
    "outbox.oldest_waiting": Limits("seconds", 60, 300),
    "events.parked": Limits("events", 1, 10),
    "jobs.waiting": Limits("jobs", 1_000, 10_000),
    "jobs.failed": Limits("jobs", 1, 50),
}


def list_boards(read: Reader, paged: Paged) -> tuple[list[Board], str | None]:
    """The built-in dashboards, by their code."""
    boards = sorted(BOARDS.values(), key=lambda one: one.code, reverse=paged.descending)
    return cut(read, paged, boards, lambda one: (one.code,))


async def read_board(read: Reader, code: str, *, domain: str | None) -> tuple[Board, list[Widget]]:
    """A dashboard with the figures as they are now."""
    board = BOARDS.get(code)
    if board is None:
        raise NotFound()
    if code in counts.COUNTED:
        widgets = await _counted(read, code)
    else:
        widgets = await _reported(read, None if code == "platform-health" else _DELIVERING)
    return board, [one for one in widgets if domain in (None, one.domain)]


async def _reported(read: Reader, only: str | None) -> list[Widget]:
    found: Mapping[str, list[FigureValue] | None] = await ask_all(
        read.host, Figures, lambda port: port.current()
    )
    asked = found if only is None else {only: found.get(only)}
    return [
        _widget(domain, key, limits, answer)
        for domain, answer in sorted(asked.items())
        for key, limits in REPORTED.items()
    ]


def _widget(domain: str, key: str, limits: Limits, answer: list[FigureValue] | None) -> Widget:
    """A figure as its domain reports it; without a value it is unknown, never 0."""
    told = next((one for one in answer or () if one.key == key), None)
    value = told.value if told is not None and isinstance(told.value, int) else None
    as_of = told.as_of if told is not None else None
    return Widget(key, domain, value, limits.unit, as_of, state_of(value, limits))


async def _counted(read: Reader, code: str) -> list[Widget]:
    await read.switch_scope(organization_id=OPERATOR)  # cases are between customer and operator
    found = await counts.count(read, code)
    return [
        Widget(key, OWN, value, "rows", read.now, state_of(value, Limits("rows", *limits)))
        for key, (value, limits) in found.items()
    ]


def state_of(value: int | None, limits: Limits) -> WidgetState:
    """The state that follows from the value."""
    if value is None:
        return WidgetState.UNKNOWN
    if value >= limits.alarm:
        return WidgetState.ALARM
    return WidgetState.WARN if value >= limits.warn else WidgetState.OK
