"""What a domain declares about itself; a process mounts it, sweeps and documents are made of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from thenga.kernel.declare.event import Event
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.lifecycle import Lifecycle
from thenga.kernel.declare.permission import Granted
from thenga.kernel.declare.port import Port
from thenga.kernel.declare.reaction import Reactions

if TYPE_CHECKING:
    from thenga.kernel.panels import Summarize


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
    secrets: Sequence[str] = ()  # settings that hold secrets of its providers, comma separated
    adapters: dict[type, Any] = field(default_factory=dict)  # protocol -> maker(host)
    at_deployment: Any = None  # async (host, all domains): seeds catalogues as the system login
    panel: "Summarize | None" = None  # what operators see of one organization (kernel/panels.py)

    @property
    def migrations(self) -> Path:
        return self.home / "migrations"
