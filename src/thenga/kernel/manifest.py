"""What a domain declares about itself; a process mounts it, sweeps and documents are made of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from thenga.kernel.events.event import Event
from thenga.kernel.lifecycle import Lifecycle
from thenga.kernel.ports.port import Port

if TYPE_CHECKING:
    from thenga.kernel.events.reactions import Reactions
    from thenga.kernel.host import Host
    from thenga.kernel.jobs.declare import Jobs


class Effect(StrEnum):
    """Whether a permission only reads or also changes data."""

    READ = "read"
    WRITE = "write"


class Audience(StrEnum):
    """Group whose data a permission applies to."""

    PERSON = "person"
    TENANT = "tenant"
    PLATFORM = "platform"
    SERVICE = "service"
    SANDBOX = "sandbox"  # the keys of a sandbox, where nothing is at stake


class Sensitivity(StrEnum):
    """How much damage misuse of a permission can cause."""

    NORMAL = "normal"
    SENSITIVE = "sensitive"
    MONEY = "money"
    ADMINISTRATION = "administration"


_READING = ("read", "list", "export")


@dataclass(frozen=True)
class Granted:
    """What the permission catalogue says of one permission (IDN-23)."""

    code: str
    title: str
    audiences: tuple[Audience, ...]
    roles: tuple[str, ...] = ()
    sensitivity: Sensitivity = Sensitivity.NORMAL
    feature: str | None = None
    while_suspended: bool = False
    owner_only: bool = False  # not even an administrator holds it
    closed_to_keys: bool = False
    # Resource types, as `bid.workspace`, under which its resources hang; a right that is held only
    # on one of these passes, and the service keeps to the obligation `limit_to` (IDN-26).
    scopes: tuple[str, ...] = ()
    half: bool = False  # open to a sign-in that still needs its second factor

    @property
    def effect(self) -> Effect:
        return Effect.READ if self.code.split(":")[2] in _READING else Effect.WRITE

    @property
    def keys(self) -> bool:
        normal = self.sensitivity is Sensitivity.NORMAL and not self.closed_to_keys
        return normal or Audience.SANDBOX in self.audiences

    @property
    def agents(self) -> str:
        if self.sensitivity is not Sensitivity.NORMAL:
            return "never"
        return "allowed" if self.effect is Effect.READ else "with_approval"


@dataclass(frozen=True)
class Domain:
    """One domain, whole: all its wiring by explicit imports."""

    name: str
    home: Path
    routers: Sequence[APIRouter] = ()
    permissions: Sequence[Granted] = ()
    events: Sequence[type[Event]] = ()
    lifecycles: Sequence[type[Lifecycle]] = ()
    provides: "dict[type[Port], Any]" = field(default_factory=dict)  # port -> maker(host)
    needs: Sequence[type[Port]] = ()
    may_need: Sequence[type[Port]] = ()  # asked where somebody answers it; the start does not ask
    reactions: "Reactions | None" = None
    jobs: "Jobs | None" = None
    gate: bool = False  # has a login of its own for the one statement of the gate
    secrets: Sequence[str] = ()  # settings that hold secrets of its providers, comma separated
    adapters: dict[type, Any] = field(default_factory=dict)  # protocol -> maker(host)
    at_deployment: Any = None  # async (host, all domains): seeds catalogues as the system login

    @property
    def migrations(self) -> Path:
        return self.home / "migrations"

    def bind(self, host: "Host") -> None:
        """Answer this domain's ports in this process, and let it tell its events."""
        host.told[self.name] = frozenset(event.type for event in self.events)
        for port, maker in self.provides.items():
            host.bindings.bind(port, maker(host))
