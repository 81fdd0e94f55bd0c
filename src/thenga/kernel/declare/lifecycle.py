"""Lifecycles: which moves exist, as a table of verb, from, to and guard.

A move checks and sets; effects stay in services. From the table come the 409 that names the open
moves, `allowedMoves`, the diagrams of docs/lifecycles.md and the sweep over every refusal.
"""

from collections.abc import Callable
from datetime import datetime
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from typing_extensions import TypedDict  # the one that pydantic can read

from thenga.kernel.errors import InvalidTransition, Problem

if TYPE_CHECKING:
    from thenga.kernel.db.work import Work

LIFECYCLES: list[type["Lifecycle"]] = []


Guard = Callable[[Any, datetime], None]
_REASON = ("status_code", "status_text", "status_changed_at", "status_changed_by")


class By(Enum):
    """Who makes a move: whoever calls, staff of the platform alone, or nobody who calls.

    The system's own are made by time, by a provider, or on the way of another operation.
    """

    CALLER = "caller"
    STAFF = "staff"
    SYSTEM = "system"


class Move:
    """One verb: the states it leads from, the state it leads to, what must hold, and who asks.

    `called` is the name of the operation where that is another one than the verb.
    """

    def __init__(
        self,
        *sources: StrEnum,
        to: StrEnum,
        guard: Guard | None = None,
        by: By = By.CALLER,
        called: str | None = None,
    ) -> None:
        self.sources = frozenset(sources)
        self.to = to
        self.guard = guard
        self.by = by
        self.called = called or ""
        self.verb = ""
        self.lifecycle: type[Lifecycle]
        self.possible: AllowedMove  # the same for every row, so it is made once

    def __set_name__(self, owner: type, name: str) -> None:
        self.verb = name.rstrip("_")  # `return_` is the verb return
        self.called = self.called or self.verb
        self.possible = AllowedMove(move=self.called, possible=True, reason=None)

    def __call__(self, row: Any, *, at: datetime) -> bool:
        """Make the move; False if the row is there already, so that a repeat has no effect."""
        axis = self.lifecycle.axis
        status = getattr(row, axis)
        if status == self.to and status not in self.sources:
            return False
        if status not in self.sources:
            raise not_possible(
                f"The status is {status}; {self.verb} is possible from {_listed(self.sources)}.",
                status=status,
                operation=self.verb,
                allowed=self.lifecycle.open(row),
            )
        if self.guard is not None:
            self.guard(row, at)
        setattr(row, axis, self.to)
        return True

    def make(
        self, work: "Work", row: Any, *, code: str | None = None, text: str | None = None
    ) -> bool:
        """As the call, at the time of the unit of work; whether the row moved.

        An `Explained` row keeps the code (or the verb), the text, the time and the person.
        """
        is_explained = all(hasattr(type(row), name) for name in _REASON)
        if not is_explained and (code, text) != (None, None):
            raise TypeError(f"{type(row).__name__} keeps no reason; make it Explained")
        moved = self(row, at=work.now)
        if moved and is_explained:
            by = work.actor.person_id
            explain(row, at=work.now, by=by, code=code or self.verb, text=text)
        return moved


def not_possible(
    detail: str,
    *,
    status: str,
    operation: str,
    allowed: list[str],
    kind: type[InvalidTransition] = InvalidTransition,
    **facts: Any,
) -> InvalidTransition:
    """The 409 of an operation that does not lead anywhere from this state.

    A domain that has more to say declares a `kind` with these members.
    """
    told = {"from": status, "operation": operation, "allowed": allowed, **facts}
    return kind(detail, **told)


class AllowedMove(TypedDict):
    """An operation of the lifecycle and, if it is not possible now, the reason."""

    move: str
    possible: bool
    reason: str | None


class _Ways:
    """The moves that lead from one state; mostly all are possible, and then nothing is made."""

    def __init__(self, moves: list[Move]) -> None:
        self.moves = moves
        self.guards = list(dict.fromkeys(m.guard for m in moves if m.guard is not None))
        self.possible = list({move.called: move.possible for move in moves}.values())


_ASKED_BY = {By.CALLER: {By.CALLER}, By.STAFF: {By.CALLER, By.STAFF}}


class Lifecycle:
    """The moves of one resource: a class of `Move`s, nothing else."""

    axis: ClassVar[str] = "status"
    states: ClassVar[type[StrEnum]]
    initial: ClassVar[frozenset[StrEnum]]
    moves: ClassVar[dict[str, Move]]
    leading: ClassVar[dict[By, dict[StrEnum, _Ways]]]

    def __init_subclass__(
        cls, *, initial: StrEnum | tuple[StrEnum, ...], axis: str = "status"
    ) -> None:
        super().__init_subclass__()
        cls.axis = axis
        cls.moves = {m.verb: m for m in vars(cls).values() if isinstance(m, Move)}
        begins = initial if isinstance(initial, tuple) else (initial,)
        cls.initial = frozenset(begins)
        cls.states = type(begins[0])
        cls.leading = {
            who: {
                state: _Ways(
                    [m for m in cls.moves.values() if state in m.sources and m.by in theirs]
                )
                for state in cls.states
            }
            for who, theirs in _ASKED_BY.items()
        }
        for move in cls.moves.values():
            move.lifecycle = cls
        LIFECYCLES.append(cls)

    @classmethod
    def open(cls, row: Any) -> list[str]:
        """What somebody may ask for in the row's present state."""
        return [move["move"] for move in cls.leading[By.STAFF][getattr(row, cls.axis)].possible]

    @classmethod
    def allowed(cls, row: Any, at: datetime, *, by: By = By.CALLER) -> list[AllowedMove]:
        """What this caller may do next, and for the rest of the open moves the guard that fails."""
        ways = cls.leading[by][getattr(row, cls.axis)]
        try:
            for guard in ways.guards:
                guard(row, at)
        except Problem:
            return cls._with_reasons(ways, row, at)
        return ways.possible

    @classmethod
    def _with_reasons(cls, ways: _Ways, row: Any, at: datetime) -> list[AllowedMove]:
        """An operation that makes several moves is possible if one of them is."""
        fails = {guard: reason for guard in ways.guards if (reason := _refusal(guard, row, at))}
        told: dict[str, AllowedMove] = {}
        for move in ways.moves:
            if move.guard not in fails:
                told[move.called] = move.possible
            else:
                refused = AllowedMove(move=move.called, possible=False, reason=fails[move.guard])
                told.setdefault(move.called, refused)
        return list(told.values())


def explain(row: Any, *, at: datetime, by: UUID | None, code: str, text: str | None = None) -> None:
    """Write down why a status changed, when and by whom, where a row keeps that beside it."""
    row.status_code, row.status_text = code, text
    row.status_changed_at, row.status_changed_by = at, by


def _refusal(guard: Guard, row: Any, at: datetime) -> str | None:
    try:
        guard(row, at)
    except Problem as problem:
        return problem.detail
    return None


def diagram(lifecycle: type[Lifecycle]) -> str:
    """The Mermaid state diagram of a lifecycle."""
    lines = ["stateDiagram-v2"]
    lines += [f"    [*] --> {state}" for state in sorted(lifecycle.initial)]
    for verb, move in lifecycle.moves.items():
        lines += [f"    {source} --> {move.to}: {verb}" for source in sorted(move.sources)]
    return "\n".join(lines)


def _listed(states: frozenset[StrEnum]) -> str:
    return ", ".join(sorted(states)) or "no state"
