"""What a domain declares about itself; a process mounts it, sweeps and documents are made of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.flag import DeclaredFlag
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.lifecycle import Lifecycle
from thenga.kernel.declare.permission import Granted
from thenga.kernel.declare.port import Port
from thenga.kernel.declare.reaction import Reactions
from thenga.kernel.declare.setting import LAW, Acknowledged, Setting
from thenga.kernel.declare.variable import Variable

if TYPE_CHECKING:
    from thenga.kernel.standing.panels import Summarize


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
    reactions: Reactions | None = None
    jobs: Jobs | None = None
    gate: bool = False  # has a login of its own for the one statement of the gate
    # Age in seconds, as a figure, to the SQL of the instant since when the oldest of them waits.
    waits: dict[str, str] = field(default_factory=dict)
    environment: Sequence[Variable] = ()  # what it reads by `Settings.of_domain`
    adapters: dict[type, Any] = field(default_factory=dict)  # protocol -> maker(host)
    at_deployment: Any = None  # async (host, all domains): seeds catalogues as the system login
    panel: "Summarize | None" = None  # what operators see of one organization
    settings: Sequence[Setting[Any]] = ()  # what an operator may change
    flags: Sequence[DeclaredFlag] = ()  # what an operator may roll out

    def __post_init__(self) -> None:
        keys = [setting.key for setting in self.settings]
        foreign = [one.key for one in self.settings if one.domain not in (self.name, LAW)]
        if foreign or len(set(keys)) < len(keys):
            raise TypeError(f"{self.name} cannot declare {foreign or 'a setting twice'}")
        if any(flag.key.split(".")[0] != self.name for flag in self.flags):
            raise TypeError(f"{self.name} declares a flag whose key begins with another domain")
        if keys and self.acknowledgement is None:
            raise TypeError(f"{self.name} has settings and no event PolicyAcknowledged")

    @property
    def acknowledgement(self) -> type[Acknowledged] | None:
        """The event that answers a change of its settings."""
        return next((one for one in self.events if issubclass(one, Acknowledged)), None)

    @property
    def migrations(self) -> Path:
        return self.home / "migrations"
