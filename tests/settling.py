"""The worker's side inside a test: events are relayed, reacted to and jobs done until quiet."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Self, TypeVar

from thenga import topology
from thenga.kernel.events.meshside import MeshSide
from thenga.kernel.host import Host
from thenga.kernel.jobs.runner import JobSide

T = TypeVar("T")


class Settle:
    """Runs the mesh and the jobs of all domains while it is open."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._stop = asyncio.Event()
        self._sides: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        domains = topology.load(topology.DOMAINS)
        self._sides = [
            asyncio.create_task(MeshSide(self._host, domains).run(self._stop)),
            asyncio.create_task(JobSide(self._host, domains).run(self._stop)),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        await asyncio.gather(*self._sides)

    async def __call__(
        self, look: Callable[[], Awaitable[T | None]], *, seconds: float = 60.0
    ) -> T:
        """What `look` finds once it finds something; fails the test after a while."""
        async with asyncio.timeout(seconds):
            while True:
                found = await look()
                if found is not None and found is not False:
                    return found
                await asyncio.sleep(0.02)
