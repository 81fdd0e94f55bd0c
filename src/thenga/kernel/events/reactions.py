"""Reactions: what a domain does when a fact is told, by it or by another."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

import structlog

from thenga.kernel.db.work import Work
from thenga.kernel.events.event import Envelope, Event

log = structlog.get_logger()

E = TypeVar("E", bound=Event)
Handler = Callable[[Work, E], Awaitable[None]]
SandboxCheck = Callable[[Work], Awaitable[bool]]
EnvelopeHandler = Callable[[Work, Envelope], Awaitable[None]]


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

    def __init__(self, domain: str, *, is_sandbox: SandboxCheck | None = None) -> None:
        self.domain = domain
        self.is_sandbox = is_sandbox  # what this domain itself knows of an organization
        self._all: dict[str, Reaction] = {}

    @property
    def all(self) -> tuple[Reaction, ...]:
        return tuple(self._all.values())

    def on(self, event: type[E]) -> Callable[[Handler[E]], Handler[E]]:
        """React to an event by its class; the function's name says what it achieves."""

        def register(function: Handler[E]) -> Handler[E]:
            async def handle(work: Work, envelope: Envelope) -> None:
                await function(work, event.model_validate(envelope.data))

            name = getattr(function, "__name__", "")
            doc = inspect.getdoc(function) or ""
            self._add(Reaction(name, event.type, handle, event, doc))
            return function

        return register

    def on_type(self, type: str) -> Callable[[EnvelopeHandler], EnvelopeHandler]:  # noqa: A002
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


async def follow_sandbox_clock(
    work: Work, envelope: Envelope, is_sandbox: SandboxCheck | None = None
) -> None:
    """Keep how far a sandbox organization's clock runs ahead; an older move changes nothing.

    Only a sandbox has a clock, and the domain's own rows say which is one (SEC-63).
    """
    organization_id = UUID(envelope.data["organizationId"])
    ahead = timedelta(seconds=envelope.data["aheadSeconds"])
    if ahead < timedelta(0):
        raise ValueError("a sandbox clock moves forward only")
    await work.enter_organization(organization_id)
    if is_sandbox is not None and not await is_sandbox(work):
        log.error("events.clock.refused", domain=work.domain, organization_id=str(organization_id))
        return
    await work.run(
        f"INSERT INTO {work.domain}.clock_offset AS known (organization_id, ahead, sequence) "
        f"VALUES ($1, $2, $3) ON CONFLICT (organization_id) DO UPDATE "
        f"SET ahead = EXCLUDED.ahead, sequence = EXCLUDED.sequence "
        f"WHERE known.sequence < EXCLUDED.sequence",
        organization_id,
        ahead,
        envelope.sequence or 0,
    )


# Every domain has this one, and the kernel knows no domain: hence the type as text. The name is one
# that no function of a domain can have.
def _follow_clock(is_sandbox: SandboxCheck | None) -> Reaction:
    async def handle(work: Work, envelope: Envelope) -> None:
        await follow_sandbox_clock(work, envelope, is_sandbox)

    return Reaction("kernel.follow_sandbox_clock", "organization.SandboxClockMoved.v1", handle)


def by_source(reactions: Reactions | None) -> dict[str, list[Reaction]]:
    """What a domain listens to, by the domain that tells it; the sandbox clock always."""
    found: dict[str, list[Reaction]] = {}
    clock = _follow_clock(reactions.is_sandbox if reactions else None)
    for reaction in (*(reactions.all if reactions else ()), clock):
        found.setdefault(reaction.source, []).append(reaction)
    return found
