"""Figures: what the workers of a domain have still to do, written every 15 seconds.

Each worker writes the counts of its domains and the positions of the consumers that it leads into
`<domain>.figure`. The port `<domain>.figures` answers them to Administration's dashboards, and to
whoever must know how far a domain has heard of another: it has heard everything before the
smaller of its own `consumers.<source>.through` and what waits in the source's outbox
(`outbox.oldest_waiting`).
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from random import SystemRandom

import sqlalchemy as sa
import structlog
from asyncpg import Record
from pydantic import BaseModel, ConfigDict

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.port import Port, idempotent, port_of
from thenga.kernel.events.consumer import Consumer, Position
from thenga.kernel.events.leadership import paused
from thenga.kernel.ports.binding import answered_by
from thenga.kernel.ports.local import Answering
from thenga.kernel.process.host import Host

EVERY = 15.0
KNOWN_FOR = timedelta(seconds=45)  # what is older than three turns nobody knows any more
_MOST_COUNTED = 100_000  # waiting events; a longer outbox is not counted to its end

log = structlog.get_logger()
_random = SystemRandom()


class Unit(StrEnum):
    """What a figure counts."""

    EVENTS = "events"
    JOBS = "jobs"
    SECONDS = "seconds"
    INSTANT = "instant"


class FigureValue(BaseModel):
    """One figure. A `value` of None is unknown, and never stands for 0.

    It is unknown while no worker of the domain has written it for 45 seconds; `as_of` says when
    one last did, None where none ever has.
    """

    model_config = ConfigDict(frozen=True)

    key: str
    value: int | datetime | None
    unit: Unit
    as_of: datetime | None


class Figures(ABC):
    """The figures of one domain; silence: all of them are unknown."""

    @abstractmethod
    @idempotent
    async def current(self) -> list[FigureValue]: ...


@cache
def figures_of(domain: str) -> type[Port]:
    """The port by which a domain tells what its workers have still to do."""
    return port_of(Figures, name=f"{domain}.figures", timeout=0.8)


def local_figures(host: Host, domain: str, sources: Sequence[str]) -> Port:
    """The figures of a domain of this process."""
    return answered_by(figures_of(domain), _Local(host, domain, sources))


_COUNTS = {
    "outbox.waiting": Unit.EVENTS,
    "outbox.oldest_waiting": Unit.SECONDS,
    "events.parked": Unit.EVENTS,
    "jobs.waiting": Unit.JOBS,
    "jobs.oldest_unfinished": Unit.SECONDS,
    "jobs.failed": Unit.JOBS,
}


def _units(sources: Sequence[str]) -> dict[str, Unit]:
    """Every figure of a domain that listens to these."""
    units = dict(_COUNTS)
    for source in sources:
        units[f"consumers.{source}.through"] = Unit.INSTANT
        units[f"consumers.{source}.pending"] = Unit.EVENTS
    return units


class _Local(Figures):
    def __init__(self, host: Host, domain: str, sources: Sequence[str]) -> None:
        self._units = _units(sources)
        self._answering = Answering(host, figures_of(domain))

    async def current(self) -> list[FigureValue]:
        async with self._answering.reading(None) as read:
            written = {one["key"]: one for one in await read.records(_written(read.domain))}
        since = read.now - KNOWN_FOR
        return [_shown(key, unit, written.get(key), since) for key, unit in self._units.items()]


def _shown(key: str, unit: Unit, row: Record | None, since: datetime) -> FigureValue:
    if row is None:
        return FigureValue(key=key, value=None, unit=unit, as_of=None)
    value = row["instant"] if unit is Unit.INSTANT else row["number"]
    known = row["as_of"] > since
    return FigureValue(key=key, value=value if known else None, unit=unit, as_of=row["as_of"])


async def ages(host: Host, domain: Domain) -> dict[str, float]:
    """For each figure that is an age, in seconds, how old it is by now.

    While no worker writes the figures the ages go on, also from 0: what came meanwhile is not
    known, but it waits.
    """
    found: dict[str, float] = {}
    async with Answering(host, figures_of(domain.name)).reading(None) as read:
        written = {each["key"]: each for each in await read.records(_written(domain.name))}
        for key in [key for key, unit in _COUNTS.items() if unit is Unit.SECONDS] + [*domain.waits]:
            row = written.get(key)
            if row is not None:
                silent = read.now - row["as_of"]
                since = silent.total_seconds() if silent > KNOWN_FOR else 0.0
                found[key] = row["number"] + since
    return found


@cache
def _written(domain: str) -> sa.Select[str, int | None, datetime | None, datetime]:
    figure = sa.table(
        "figure",
        sa.column("key", sa.Text),
        sa.column("number", sa.BigInteger),
        sa.column("instant", sa.DateTime(timezone=True)),
        sa.column("as_of", sa.DateTime(timezone=True)),
        schema=domain,
    )
    return sa.select(figure.c.key, figure.c.number, figure.c.instant, figure.c.as_of)


class FigureSide:
    """Writes the figures of the domains of a worker process.

    Any number of processes may: counts are the same whoever counts, and only the process that
    leads a consumer knows its position.
    """

    def __init__(
        self,
        host: Host,
        domains: Sequence[Domain],
        consumers: Sequence[Consumer] = (),
        *,
        every: float = EVERY,
    ) -> None:
        self._host = host
        self._domains = domains
        self._consumers = consumers
        self._every = every

    async def run(self, stop: asyncio.Event) -> None:
        """Until stopped; a turn that fails leaves the figures to grow old."""
        await asyncio.gather(*(self._go_on(domain, stop) for domain in self._domains))

    async def _go_on(self, domain: Domain, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                await write(self._host, domain, self._positions(domain.name))
            except Exception:
                log.exception("figures.turn.failed", domain=domain.name)
            # Not all domains at one instant, although they began together.
            await paused(stop, self._every * _random.uniform(0.8, 1.0))

    def _positions(self, domain: str) -> list[Position]:
        found = (consumer.position() for consumer in self._consumers)
        return [one for one in found if one is not None and one.domain == domain]


async def write(host: Host, domain: Domain, positions: Sequence[Position] = ()) -> None:
    """Write the counts of a domain, and positions of its consumers, in one statement."""
    name = domain.name
    async with host.engines.connection(name, f"{name}_system") as connection:
        await connection.execute(
            _write_text(name, tuple(domain.waits.items())),
            host.now(),
            [one.source for one in positions],
            [one.through for one in positions],
            [one.pending for one in positions],
        )


@cache
def _write_text(domain: str, waits: tuple[tuple[str, str], ...]) -> str:
    # An identifier begins with the milliseconds of its making: a sandbox's own time runs ahead.
    made = "to_timestamp(('x' || left(replace(first, '-', ''), 12))::bit(48)::bigint / 1000.0)"
    taken = f"SELECT min(at) FROM {domain}.procrastinate_events WHERE job_id = first"
    own = "".join(
        f"UNION ALL SELECT '{key}', {_age(f'({oldest})')}, NULL " for key, oldest in waits
    )
    return f"""
        WITH waiting AS (
            SELECT count(*) AS events, min(id::text) AS first FROM (
                SELECT id FROM {domain}.outbox WHERE published_at IS NULL
                ORDER BY position LIMIT {_MOST_COUNTED}
            ) AS rows
        ), job AS (
            SELECT
                count(*) FILTER (
                    WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= $1)
                ) AS waiting,
                count(*) FILTER (WHERE status = 'failed') AS failed,
                min(scheduled_at) FILTER (
                    WHERE status IN ('todo', 'doing') AND scheduled_at <= $1
                ) AS due,
                min(id) FILTER (
                    WHERE status IN ('todo', 'doing') AND scheduled_at IS NULL
                ) AS first
            FROM {domain}.procrastinate_jobs
        ), consumer AS (
            SELECT * FROM unnest($2::text[], $3::timestamptz[], $4::bigint[])
                AS told (source, through, pending)
        )
        INSERT INTO {domain}.figure AS known (key, number, instant, as_of)
        SELECT key, number, instant, $1 FROM (
            SELECT 'outbox.waiting' AS key, events AS number, NULL::timestamptz AS instant
                FROM waiting
            UNION ALL SELECT 'outbox.oldest_waiting',
                {_age(made)}, NULL
                FROM waiting
            UNION ALL SELECT 'events.parked', count(*), NULL FROM {domain}.parked_event
            UNION ALL SELECT 'jobs.waiting', waiting, NULL FROM job
            UNION ALL SELECT 'jobs.oldest_unfinished', {_age("least(due, (" + taken + "))")}, NULL
                FROM job
            UNION ALL SELECT 'jobs.failed', failed, NULL FROM job
            UNION ALL SELECT 'consumers.' || source || '.through', NULL, through FROM consumer
            UNION ALL SELECT 'consumers.' || source || '.pending', pending, NULL FROM consumer
            {own}
        ) AS figures
        ON CONFLICT (key) DO UPDATE
        SET number = EXCLUDED.number, instant = EXCLUDED.instant, as_of = EXCLUDED.as_of
        WHERE known.as_of < EXCLUDED.as_of
    """  # the domain's name is a constant of ours


def _age(instant: str) -> str:
    """SQL of the whole seconds since an instant; 0 where there is none."""
    return f"coalesce(greatest(ceil(extract(epoch FROM $1 - {instant})), 0), 0)::bigint"
