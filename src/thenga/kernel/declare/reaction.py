"""Reactions: what a domain does when a fact is told, by it or by another."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from thenga.kernel.declare.event import Envelope, Event

if TYPE_CHECKING:
    from thenga.kernel.db.work import Work

E = TypeVar("E", bound=Event)
E2 = TypeVar("E2", bound=Event)
E3 = TypeVar("E3", bound=Event)
Handler: TypeAlias = "Callable[[Work, E], Awaitable[None]]"
SandboxCheck: TypeAlias = "Callable[[Work], Awaitable[bool]]"
EnvelopeHandler: TypeAlias = "Callable[[Work, Envelope], Awaitable[None]]"


@dataclass(frozen=True)
class Reaction:
    """One function and one type of event that it answers; its name is its key in the inbox."""

    name: str
    event_type: str
    handle: EnvelopeHandler
    event: type[Event] | None = None  # none where the type is known by its text only
    doc: str = ""

    @property
    def source(self) -> str:
        return self.event_type.split(".")[0]

    @property
    def mesh_subject(self) -> str:
        """The events of this type, of every organization."""
        return f"thenga.{self.source}.{self.event_type.split('.')[1]}.*"


class Reactions:
    """The reactions of one domain, by decorator."""

    def __init__(self, domain: str, *, is_sandbox: "SandboxCheck | None" = None) -> None:
        self.domain = domain
        self.is_sandbox = is_sandbox  # what this domain itself knows of an organization
        self._all: list[Reaction] = []

    @property
    def all(self) -> tuple[Reaction, ...]:
        return tuple(self._all)

    @overload
    def on(self, event: type[E], /) -> "Callable[[Handler[E]], Handler[E]]": ...

    @overload
    def on(
        self, event: type[E], second: type[E2], /
    ) -> "Callable[[Handler[E | E2]], Handler[E | E2]]": ...

    @overload
    def on(
        self, event: type[E], second: type[E2], third: type[E3], /
    ) -> "Callable[[Handler[E | E2 | E3]], Handler[E | E2 | E3]]": ...

    @overload
    def on(self, *events: type[Event]) -> "Callable[[Handler[Event]], Handler[Event]]": ...

    def on(self, *events: type[Event]) -> Any:
        """React to events by their classes; the function's name says what it achieves.

        A function for more than three classes takes `Event`. `work.envelope` has sequence, time
        and sender.
        """
        if not events or len(set(events)) < len(events):
            raise TypeError("name each event of a reaction once")

        def register(function: "Handler[Event]") -> "Handler[Event]":
            name = getattr(function, "__name__", "")
            doc = inspect.getdoc(function) or ""
            self._add(
                *(
                    Reaction(name, event.type, _typed(function, event), event, doc)
                    for event in events
                )
            )
            return function

        return register

    def on_type(self, type: str) -> "Callable[[EnvelopeHandler], EnvelopeHandler]":  # noqa: A002
        """React by the text of a type, where its class must not be imported."""

        def register(function: EnvelopeHandler) -> EnvelopeHandler:
            name = getattr(function, "__name__", "")
            self._add(Reaction(name, type, function, None, inspect.getdoc(function) or ""))
            return function

        return register

    def _add(self, *reactions: Reaction) -> None:
        """Those of one function, which has one name."""
        name = reactions[0].name
        if any(known.name == name for known in self._all):
            raise TypeError(f"{self.domain} has a reaction {name!r} already")
        self._all += reactions


def _typed(function: "Handler[Event]", event: type[Event]) -> EnvelopeHandler:
    async def handle(work: "Work", envelope: Envelope) -> None:
        await function(work, event.model_validate(envelope.data))

    return handle
