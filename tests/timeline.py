"""Time in a test: what is due is done at its own instant and in its order, as the worker would.

A test names the organization whose time passes; nobody else's rows and jobs are touched. What moves
by time is found over `jobs.moved` of the domains, so a new domain has nothing to add here.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Protocol
from uuid import UUID

from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Job
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.jobs.lease import Lease
from thenga.kernel.jobs.run import Carried, Run, perform
from thenga.kernel.process.host import Host

_MOST_ROUNDS = 2000
_IDLE_SECONDS = 60.0


class Clock(Protocol):
    def set(self, at: datetime) -> None: ...


@dataclass(frozen=True)
class Due:
    """A row whose time has come, and the job that is declared for it."""

    at: datetime
    job: Job
    arguments: dict[str, UUID]

    @property
    def mark(self) -> object:
        """The same as long as its job has not moved the row."""
        return self.at, self.job.task, *self.arguments.values()


Fetch = Callable[..., Awaitable[Sequence[Any]]]


async def due(fetch: Fetch, domain: Domain, organization_id: UUID, until: datetime) -> list[Due]:
    """What of an organization is due by then, in the order of `next_check_at`."""
    if domain.jobs is None or not domain.jobs.moved:
        return []
    moved = list(domain.jobs.moved.items())
    tables = tuple(row.__table__.fullname for row, _ in moved)  # type: ignore[attr-defined]  # rows
    found = []
    for record in await fetch(_due_text(tables), organization_id, until):
        job, name = moved[record["place"]][1]
        found.append(Due(record["at"], job, {name: record["id"]}))
    return found


@cache
def _due_text(tables: tuple[str, ...]) -> str:
    each = " UNION ALL ".join(
        f"SELECT {place} AS place, id, next_check_at AS at FROM {table} "
        "WHERE organization_id = $1 AND next_check_at <= $2"
        for place, table in enumerate(tables)
    )
    return f"SELECT place, id, at FROM ({each}) AS checks ORDER BY at, place, id"


@dataclass
class Timeline:
    """The time of one organization.

    `adapters` answer in place of the outside, by their protocol. Jobs whose names stand in
    `undone` are taken out of the queue and not done, where they take long and show nothing.
    """

    host: Host
    clock: Clock
    domains: Sequence[Domain]
    organization_id: UUID
    adapters: Mapping[type, Any] = field(default_factory=dict)
    undone: Collection[str] = ()
    _worker_ids: dict[str, int] = field(default_factory=dict)
    _tried: set[object] = field(default_factory=set)

    async def until(self, instant: datetime) -> None:
        """Let time pass, stopping wherever something is due."""
        for _ in range(_MOST_ROUNDS):
            await self.settle()
            ahead = await self._ahead(instant)
            if not ahead:
                break
            self.clock.set(min(ahead))
        self.clock.set(instant)
        await self.settle()

    async def settle(self) -> None:
        """Do what is due now and what follows from it, until nothing is left to do.

        What its job leaves due is not tried again at once: a parked account waits for somebody.
        """
        self._tried.clear()
        for _ in range(_MOST_ROUNDS):
            done = [await self._do_queued(domain) for domain in self.domains]
            found = [await self._enqueue_first(domain) for domain in self.domains]
            if not any(done) and not any(found):
                return
        raise AssertionError("what is due does not come to an end")

    async def work_off(self) -> None:
        """Do what waits in the queue, and nothing that is due besides."""
        for domain in self.domains:
            await self._do_queued(domain)

    async def take_out(self) -> None:
        """Take out of the queue what is not done here: a worker of another test would do it."""
        for domain in self.domains:
            tasks = [f"{domain.name}.{name}" for name in self.undone]
            async with self._connection(domain) as connection:
                await connection.execute(
                    _take_out_text(domain.name), str(self.organization_id), tasks
                )

    async def _ahead(self, until: datetime) -> list[datetime]:
        """The instants from now up to then at which something has to be done."""
        found: list[datetime] = []
        for domain in self.domains:
            async with self._connection(domain) as connection:
                rows = await due(connection.fetch, domain, self.organization_id, until)
                waits = await connection.fetchval(
                    _waits_text(domain.name), str(self.organization_id), until
                )
            found += [one.at for one in rows] + ([waits] if waits else [])
        return [at for at in found if at > self.host.now()]

    async def _enqueue_first(self, domain: Domain) -> bool:
        """As the periodic job of the row would; one at a time, since it may decide of the next."""
        async with self._connection(domain) as connection:
            found = await due(connection.fetch, domain, self.organization_id, self.host.now())
        waiting = [one for one in found if one.mark not in self._tried]
        if not waiting:
            return False
        (first, *_) = waiting
        self._tried.add(first.mark)
        scope, origin = Scope(SYSTEM), Origin("timeline", "timeline", "timeline")
        work = Work(self.host, domain.name, scope, origin, login=f"{domain.name}_system")
        try:
            named: dict[str, Any] = dict(first.arguments)
            work.enqueue(first.job, organization_id=self.organization_id, **named)
            await work.finish()
        finally:
            await work.close()
        return True

    async def _do_queued(self, domain: Domain) -> bool:
        """All jobs of the organization that wait; whether there were any."""
        for number in range(_MOST_ROUNDS):
            async with self._connection(domain) as connection:
                taken = await connection.fetchrow(
                    _take_text(domain.name),
                    await self._worker_id(connection, domain),
                    str(self.organization_id),
                    self.host.now(),
                )
            if taken is None:
                return number > 0
            try:
                await self._do(domain, taken)
            finally:
                async with self._connection(domain) as connection:
                    await connection.execute(_forget_text(domain.name), taken["id"])
        raise AssertionError("jobs do not come to an end")

    async def _do(self, domain: Domain, taken: Any) -> None:
        assert domain.jobs is not None
        job = domain.jobs.declared[taken["task_name"].split(".")[1]]
        if job.name in self.undone:
            return
        lease = Lease(taken["id"], taken["attempts"], self._worker_ids[domain.name])
        carried = Carried.model_validate(taken["args"])
        run = Run(self.host, job, carried, lease, _IDLE_SECONDS, lambda p: self._adapter(domain, p))
        await perform(run)

    def _adapter(self, domain: Domain, protocol: type) -> Any:
        return self.adapters.get(protocol) or domain.adapters[protocol](self.host)

    def _connection(self, domain: Domain) -> Any:
        return self.host.engines.connection(domain.name, f"{domain.name}_system")

    async def _worker_id(self, connection: Any, domain: Domain) -> int:
        """A worker of its own in the queue: a job is done by whoever holds its lease."""
        if domain.name not in self._worker_ids:
            text = f"INSERT INTO {domain.name}.procrastinate_workers DEFAULT VALUES RETURNING id"
            self._worker_ids[domain.name] = await connection.fetchval(text)
        return self._worker_ids[domain.name]


@cache
def _take_text(domain: str) -> str:
    return f"""
        UPDATE {domain}.procrastinate_jobs SET status = 'doing', worker_id = $1
        WHERE id = (
            SELECT id FROM {domain}.procrastinate_jobs
            WHERE status = 'todo' AND args ->> 'organization_id' = $2
              AND (scheduled_at IS NULL OR scheduled_at <= $3)
            ORDER BY priority DESC, id LIMIT 1
        )
        RETURNING id, task_name, attempts, args
    """  # the domain's name is a constant of ours


@cache
def _waits_text(domain: str) -> str:
    return f"""
        SELECT min(scheduled_at) FROM {domain}.procrastinate_jobs
        WHERE status = 'todo' AND args ->> 'organization_id' = $1 AND scheduled_at <= $2
    """  # the domain's name is a constant of ours


@cache
def _take_out_text(domain: str) -> str:
    return f"""
        DELETE FROM {domain}.procrastinate_jobs
        WHERE status = 'todo' AND args ->> 'organization_id' = $1 AND task_name = ANY ($2)
    """  # the domain's name is a constant of ours


@cache
def _forget_text(domain: str) -> str:
    return f"DELETE FROM {domain}.procrastinate_jobs WHERE id = $1"
