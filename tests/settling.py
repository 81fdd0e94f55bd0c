"""The worker's side inside a test: events are relayed, reacted to and jobs done until quiet."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar

import psycopg

from thenga import topology
from thenga.domains.organization.provider import LocalProfiles
from thenga.domains.organization.public import Profiles
from thenga.kernel.declare.port import Port
from thenga.kernel.events.subscriptions import by_source
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

T = TypeVar("T")

# Cancelled and not put off: what waits under a key holds up what comes later under it. Sweeps are
# nobody's and stay.
_JOBS = """
    UPDATE {domain}.procrastinate_jobs SET status = 'cancelled'
    WHERE status = 'todo' AND task_name = ANY (%s)
"""
_EVENTS = "UPDATE {domain}.outbox SET published_at = now() WHERE published_at IS NULL"


_DUE = """
    UPDATE {table} SET next_check_at = '2100-01-01'
    WHERE next_check_at < '2100-01-01' AND xmin::text::bigint < %s
"""
_DUE_TABLES = """
    SELECT format('%%I.%%I', table_schema, table_name) FROM information_schema.columns
    WHERE column_name = 'next_check_at' AND table_schema = ANY (%s)
"""


def transaction_number(settings: Settings) -> int:
    """The number of a transaction of this moment: rows written earlier have a smaller one."""
    with psycopg.connect(settings.admin_database.get_secret_value()) as connection:
        row = connection.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()
    assert row is not None
    return int(row[0])


def set_aside(settings: Settings, before: int) -> None:
    """Leave undone what earlier tests left: it is nobody's, and takes longer than the test.

    An event without a place in the stream counts as told. Rows that were written before the given
    transaction are checked by no job any more, wherever a test moves the clock to: a sweep takes
    the oldest first, and would not come to those of the test.
    """
    address = settings.admin_database.get_secret_value()
    with psycopg.connect(address, autocommit=True) as connection:
        for domain in topology.load(topology.DOMAINS):
            name, declared = domain.name, domain.jobs.declared if domain.jobs else {}
            tasks = [f"{name}.{task}" for task, job in declared.items() if not job.rhythm]
            connection.execute(f"SET search_path = {name}")  # for the triggers of the queue
            connection.execute(_JOBS.format(domain=name).encode(), [tasks])
            connection.execute(_EVENTS.format(domain=name))
        connection.execute("SET session_replication_role = replica")
        for (table,) in connection.execute(_DUE_TABLES, [list(topology.DOMAINS)]).fetchall():
            connection.execute(_DUE.format(table=table).encode(), [before])


def sides_of(path: Path, asked: Sequence[str], *, reads_letters: bool = False) -> tuple[str, ...]:
    """The domains whose worker a test needs: those it names, or its own with its neighbours.

    Notification is among them where letters are read.
    """
    post = {"notification"} if reads_letters else set()
    if asked:
        return tuple(name for name in topology.DOMAINS if name in post | set(asked))
    own = path.parent.name
    if own not in topology.DOMAINS:
        return topology.DOMAINS
    hears = {d.name: set(by_source(d)) for d in topology.load(topology.DOMAINS)}
    return tuple(
        name
        for name in topology.DOMAINS
        if name == own or own in hears[name] or name in hears[own] or name in post
    )


class SameClock:
    """The clock of another host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def now(self) -> datetime:
        return self._host.clock.now()


def with_letters(host: Host) -> Host:
    """The host as a worker has it that asks for letters and sends them, with the same clock."""
    made = replace(host, bindings=Bindings(), closing=[], clock=SameClock(host))
    made.bindings._bound.update(host.bindings._bound)
    answered: dict[type[Port], Any] = {Profiles: LocalProfiles}
    for domain in topology.load(("identity", "notification")):
        answered |= domain.provides
    for port, maker in answered.items():
        if port not in made.bindings._bound:
            made.bindings.bind(port, maker(made))
    return made


class Settle:
    """Runs the mesh and the jobs of some domains while it is open; nothing is sealed."""

    def __init__(self, host: Host, domains: Sequence[str]) -> None:
        self._host = with_letters(host)
        self._domains = topology.load(domains)
        self._stop = asyncio.Event()
        self._sides: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        mesh = MeshSide(self._host, self._domains)
        mesh.sealers = []
        jobs = JobSide(self._host, self._domains)
        self._sides = [asyncio.create_task(side.run(self._stop)) for side in (mesh, jobs)]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        await asyncio.gather(*self._sides)
        for close in self._host.closing:
            await close()

    async def __call__(
        self, look: Callable[[], Awaitable[T | None]], *, seconds: float = 180.0
    ) -> T:
        """What `look` finds once it finds something; fails the test after a while."""
        async with asyncio.timeout(seconds):
            while True:
                found = await look()
                if found is not None and found is not False:
                    return found
                await asyncio.sleep(0.02)
