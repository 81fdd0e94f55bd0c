"""What is gathered in a process and written every few seconds: uses, sightings, tallies.

For statistics only. A process that is killed loses what it gathered since the last writing, so
nothing that a decision hangs on is kept here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from datetime import timedelta
from typing import Any, Generic, TypeVar

import structlog

from thenga.kernel.process.host import Host

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Write = Callable[[Host, dict[K, V]], Awaitable[None]]

log = structlog.get_logger()


class Gathering(Generic[K, V]):
    """Newest value for each key, at most `most` keys; handed to `write` and forgotten."""

    def __init__(self, host: Host, name: str, *, every: timedelta, most: int, write: Any) -> None:
        self._host = host
        self._name = name
        self._seconds = every.total_seconds()
        self._most = most
        self._write: Write[K, V] = write
        self._waiting: dict[K, V] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._lost = 0
        host.closing.append(self.flush)

    def get(self, key: K) -> V | None:
        return self._waiting.get(key)

    def put(self, key: K, value: V) -> None:
        """Remember a value; a key that is new when all places are taken is counted as lost."""
        if key not in self._waiting and len(self._waiting) >= self._most:
            self._lost += 1
            return
        self._waiting[key] = value
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._seconds, self._begin)

    def _begin(self) -> None:
        self._timer = None
        # Kept, because the loop itself keeps only a weak reference.
        self._writing = asyncio.create_task(self.flush())

    async def flush(self) -> None:
        """Write what waits now; a failure loses these statistics and nothing else."""
        taken, self._waiting = self._waiting, {}
        lost, self._lost = self._lost, 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if lost:
            log.warning("kernel.gathering.full", name=self._name, lost=lost)
        if not taken:
            return
        try:
            await self._write(self._host, taken)
        except Exception as error:  # noqa: BLE001  # whatever it is, a request must not feel it
            log.warning("kernel.gathering.lost", name=self._name, error=type(error).__name__)


def gathering(
    host: Host, name: str, *, every: timedelta, most: int, write: Any
) -> "Gathering[Any, Any]":
    """The gathering of this name in this process; made on first use."""
    known = host.gathered.get(name)
    if known is None:
        known = host.gathered[name] = Gathering(host, name, every=every, most=most, write=write)
    return known
