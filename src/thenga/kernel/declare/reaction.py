"""Reactions: what a domain does when a fact is told, by it or by another."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from thenga.kernel.declare.event import Envelope, Event

if TYPE_CHECKING:
    from thenga.kernel.db.work import Work

E = TypeVar("E", bound=Event)
Handler: TypeAlias = "Callable[[Work, E], Awaitable[None]]"
SandboxCheck: TypeAlias = "Callable[[Work], Awaitable[bool]]"
EnvelopeHandler: TypeAlias = "Callable[[Work, Envelope], Awaitable[None]]"


@dataclass(frozen=True)
class Reaction:
    """One function that answers one type of event; its name is its key in the inbox."""

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
        self._all: dict[str, Reaction] = {}

    @property
    def all(self) -> tuple[Reaction, ...]:
        return tuple(self._all.values())

    def on(self, event: type[E]) -> "Callable[[Handler[E]], Handler[E]]":
        """React to an event by its class; the function's name says what it achieves."""

        def register(function: "Handler[E]") -> "Handler[E]":
            async def handle(work: "Work", envelope: Envelope) -> None:
                await function(work, event.model_validate(envelope.data))

            name = getattr(function, "__name__", "")
            doc = inspect.getdoc(function) or ""
            self._add(Reaction(name, event.type, handle, event, doc))
            return function

        return register

    def on_type(self, type: str) -> "Callable[[EnvelopeHandler], EnvelopeHandler]":  # noqa: A002
        """React by the text of a type, where its class must not be imported."""

        def register(function: EnvelopeHandler) -> EnvelopeHandler:
            name = getattr(function, "__name__", "")
            self._add(Reaction(name, type, function, None, inspect.getdoc(function) or ""))
            return function

        return register

    def _add(self, reaction: Reaction) -> None:
        if reaction.name in self._all:
            raise TypeError(f"{self.domain} has a reaction {reaction.name!r} already")
        self._all[reaction.name] = reaction
