"""The mesh side of a worker process: every relay, consumer and sealer of its domains."""

import asyncio
from collections.abc import Sequence

import structlog

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.events import mesh
from thenga.kernel.events.consumer import Consumer
from thenga.kernel.events.leadership import Seat
from thenga.kernel.events.relay import Relay
from thenga.kernel.events.sealer import Sealer
from thenga.kernel.events.subscriptions import by_source
from thenga.kernel.process.host import Host

_SESSIONS = 2  # of a domain: its relay's, and that of its consumers and its sealer

log = structlog.get_logger()


class MeshSide:
    """Any number of processes may run this for the same domains; each thing has one leader."""

    def __init__(self, host: Host, domains: Sequence[Domain]) -> None:
        self._host = host
        names = [domain.name for domain in domains]
        logins = {name: mesh.login_of(name, names, host.settings) for name in names}
        # Consumers share a connection a login, and relays another.
        relaying = {login: mesh.Link(host.settings, login) for login in logins.values()}
        consuming = {login: mesh.Link(host.settings, login) for login in logins.values()}
        self._links = [*relaying.values(), *consuming.values()]
        # A domain's consumers and sealer share one session; the relay has its own, and speed.
        self._seats = [Seat(host, name) for name in names]
        self.relays = [Relay(host, name, link=relaying[logins[name]]) for name in names]
        self.consumers = [
            Consumer(
                *(host, domain.name, source, reactions),
                seat=seat,
                link=consuming[logins[domain.name]],
            )
            for domain, seat in zip(domains, self._seats, strict=True)
            for source, reactions in by_source(domain).items()
        ]
        self.sealers = [
            Sealer(host, name, seat=seat) for name, seat in zip(names, self._seats, strict=True)
        ]

    async def run(self, stop: asyncio.Event) -> None:
        """Until stopped; then what runs may end, within the drain time."""
        with self._host.engines.reserved(_SESSIONS * len(self._seats)):
            await self._run(stop)

    async def _run(self, stop: asyncio.Event) -> None:
        runners: list[Relay | Consumer | Sealer] = [*self.relays, *self.consumers, *self.sealers]
        tasks = [asyncio.create_task(runner.run(stop)) for runner in runners]
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait([stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
            if not stop.is_set():  # runners begin again by themselves: this one cannot
                raise RuntimeError("a runner ended before it was stopped")
            _, late = await asyncio.wait(tasks, timeout=self._host.settings.drain_seconds)
            if late:
                log.warning("events.runner.late", runners=len(late))
        finally:
            for task in (stopping, *tasks):
                task.cancel()
            await asyncio.gather(stopping, *tasks, return_exceptions=True)
            for seat in self._seats:
                await seat.close()
            for link in self._links:
                await link.close()
