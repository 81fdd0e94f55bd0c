"""`Run`: one attempt at one job, and the units of work it may open."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel

from thenga.kernel.access.actors import Actor, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.engine import Connection
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, Job
from thenga.kernel.declare.port import Port
from thenga.kernel.events.inbox import take
from thenga.kernel.jobs.lease import Lease, hold
from thenga.kernel.process.host import Host

A = TypeVar("A")
P = TypeVar("P", bound=Port)


class Carried(BaseModel):
    """What a job's row brings along: for whom, because of what, and with which arguments."""

    arguments: dict[str, Any]
    id: UUID
    organization_id: UUID | None = None
    user_id: UUID | None = None
    actor: Actor
    correlation_id: str
    causation_id: str | None = None
    traceparent: str | None = None


@dataclass
class Run:
    """Handed to a job that talks to the outside: read, call, record."""

    host: Host
    job: Job
    carried: Carried
    lease: Lease
    idle_seconds: float
    adapters: Callable[[type], Any]
    _recorded: bool = field(default=False, init=False)

    @property
    def key(self) -> str:
        """The same at every attempt: what the outside is given to know a repeated call by."""
        return str(self.carried.id)

    def adapter(self, protocol: type[A]) -> A:
        """The way to the outside that the manifest names for this protocol."""
        found: A = self.adapters(protocol)
        return found

    def port(self, port: type[P]) -> P:
        """Another domain's port, asked between reading and recording, never in a loop."""
        return self.host.bindings.of(port)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """Read before the call; nothing is held while the outside is waited for."""
        scope, origin = await self._scope(), self._origin()
        reader = Reader(self.host, self.job.domain, scope, origin, login=self._login)
        try:
            yield reader
        finally:
            await reader.close()

    @asynccontextmanager
    async def working(self) -> AsyncIterator[Work]:
        """Record. The first of these marks the job as done: a later attempt does nothing more."""
        scope, origin = await self._scope(), self._origin()
        work = Work(self.host, self.job.domain, scope, origin, login=self._login)
        work.first = self._first
        try:
            yield work
            await work.finish()
            self._recorded = True
        finally:
            await work.close()

    async def is_recorded(self) -> bool:
        """Whether an earlier attempt has committed; asked before the outside is called again."""
        domain = self.job.domain
        async with self.host.engines.connection(domain, f"{domain}_system") as connection:
            found = await connection.fetchval(_taken_text(domain), self._consumer, self.carried.id)
            return found is not None

    @property
    def _login(self) -> str | None:
        return f"{self.job.domain}_system" if self.job.as_system else None

    @property
    def _consumer(self) -> str:
        return f"job {self.job.name}"

    async def _first(self, connection: Connection) -> None:
        domain = self.job.domain
        await hold(connection, domain, self.lease, self.idle_seconds)
        if not self._recorded:
            await take(domain, self._consumer, self.carried.id, self.host.now())(connection)

    async def _scope(self) -> Scope:
        organization_id = self.carried.organization_id
        ahead = timedelta(0)
        if organization_id is not None:
            ahead = await clock_offset(self.host, self.job.domain, organization_id)
        return Scope(
            actor=self.carried.actor,
            organization_id=organization_id,
            user_id=self.carried.user_id,
            clock_offset=ahead,
        )

    def _origin(self) -> Origin:
        return Origin(
            action=self.job.task,
            request_id=str(self.carried.id),
            correlation_id=self.carried.correlation_id,
            causation_id=self.carried.causation_id,
            traceparent=self.carried.traceparent,
        )


@cache
def _taken_text(domain: str) -> str:
    return f"SELECT 1 FROM {domain}.inbox WHERE consumer = $1 AND event_id = $2"


async def perform(run: Run) -> None:
    """Do the job in the way its form asks for."""
    arguments = run.job.read_arguments(run.carried.arguments)
    if run.job.form is Form.OUTSIDE:
        if run.lease.attempt and await run.is_recorded():
            return
        await run.job.body(run, **arguments)
        return
    async with run.working() as work:
        await run.job.body(work, **arguments)
