"""The dates of each domain, and the next step of a sandbox clock over those of all domains.

Every domain with rows that time moves answers the port `<domain>.timetable`, made here of
`jobs.moved`. So a jump of the clock stops at the dates of every domain, wherever it runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from sqlalchemy import func, select

from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.port import Port, idempotent, port_of
from thenga.kernel.ports.binding import answered_by
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

_A_PAGE = 200


class Outlook(BaseModel):
    """How late it is for a domain, its next date, and whether its jobs are under way."""

    model_config = ConfigDict(frozen=True)

    now: datetime
    next_check_at: datetime | None
    busy: bool


class Timetable(ABC):
    """The dates of one domain in one organization."""

    @abstractmethod
    @idempotent
    async def look(self, *, organization_id: UUID) -> Outlook: ...

    @abstractmethod
    @idempotent
    async def start(self, *, organization_id: UUID, until: datetime) -> None: ...


@cache
def timetable_of(domain: str) -> type[Port]:
    """The port by which a domain tells its dates and starts what is due; silence: ask again."""
    return port_of(Timetable, name=f"{domain}.timetable", timeout=5.0)


def local_timetable(host: Host, jobs: Jobs) -> Port:
    """The timetable of a domain of this process."""
    return answered_by(timetable_of(jobs.domain), _Local(host, jobs))


class _Local(Timetable):
    def __init__(self, host: Host, jobs: Jobs) -> None:
        self._host, self._jobs = host, jobs

    async def look(self, *, organization_id: UUID) -> Outlook:
        work = await self._opened(organization_id)
        try:
            checks = [await work.value(_first(row, organization_id)) for row in self._jobs.moved]
            return Outlook(
                now=work.now,
                next_check_at=min((at for at in checks if at is not None), default=None),
                busy=await _is_busy(work),
            )
        finally:
            await work.close()

    async def start(self, *, organization_id: UUID, until: datetime) -> None:
        """Enqueue what is due until an instant, earliest first; what waits already, waits once."""
        work = await self._opened(organization_id)
        try:
            found: list[tuple[datetime, type, UUID]] = []
            for row in self._jobs.moved:
                rows = await work.records(_due(row, organization_id, until))
                found += [(one["next_check_at"], row, one["id"]) for one in rows]
            for _, row, row_id in sorted(found, key=lambda one: (one[0], one[2])):
                job, name = self._jobs.moved[row]
                named: dict[str, Any] = {name: row_id}
                work.enqueue(job, **named)
            await work.finish()
        finally:
            await work.close()

    async def _opened(self, organization_id: UUID) -> Work:
        """As the system: what time does, nobody asks for."""
        domain, made = self._jobs.domain, str(new_id())
        ahead = await clock_offset(self._host, domain, organization_id)
        scope = Scope(actor=SYSTEM, organization_id=organization_id, clock_offset=ahead)
        origin = Origin(f"{domain}.timetable", request_id=made, correlation_id=made)
        return Work(self._host, domain, scope, origin)


def _first(row: type, organization_id: UUID) -> Any:
    table: Any = row.__table__  # type: ignore[attr-defined]  # `when_due` takes rows only
    first = func.min(table.c.next_check_at)
    return select(first).where(table.c.organization_id == organization_id)


def _due(row: type, organization_id: UUID, until: datetime) -> Any:
    table: Any = row.__table__  # type: ignore[attr-defined]  # `when_due` takes rows only
    statement = select(table.c.id, table.c.next_check_at).where(
        table.c.organization_id == organization_id, table.c.next_check_at <= until
    )
    return statement.order_by(table.c.next_check_at).limit(_A_PAGE)


@cache
def _under_way(domain: str) -> str:
    # The application may see the locks of jobs, and a lock names the organization.
    return f"""
        SELECT count(*) FROM {domain}.procrastinate_jobs
        WHERE status IN ('todo', 'doing') AND lock LIKE $1 AND lock NOT LIKE 'advance_clock:%'
            AND (scheduled_at IS NULL OR scheduled_at <= $2)
    """  # the domain's name is a constant of ours


async def _is_busy(work: Work) -> bool:
    named = f"%:{work.organization_id}:%"
    ((count,),) = await work.query(_under_way(work.domain), named, work.host.now())
    return bool(count)


@dataclass(frozen=True, slots=True)
class Step:
    """What a turn of a jump came to: the clock goes to `move_to`, has arrived, or waits."""

    move_to: datetime | None = None
    arrived: bool = False


async def next_step(
    timetables: Sequence[Timetable],
    organization_id: UUID,
    *,
    stepped_to: datetime,
    target: datetime,
) -> Step:
    """Start what is due at the earliest date of all domains, or say where the clock goes next."""
    seen = [(one, await one.look(organization_id=organization_id)) for one in timetables]
    now = min(outlook.now for _, outlook in seen)
    if now < stepped_to:
        return Step()  # the clock was moved, and the word is still on its way to a domain
    dates = [outlook.next_check_at for _, outlook in seen if outlook.next_check_at is not None]
    earliest = min(dates, default=None)
    if earliest is not None and earliest <= now:
        for timetable, outlook in seen:
            if outlook.next_check_at == earliest:
                await timetable.start(organization_id=organization_id, until=earliest)
        return Step()
    if any(outlook.busy for _, outlook in seen):
        return Step()
    if now >= target:
        return Step(arrived=True)
    return Step(move_to=target if earliest is None else min(earliest, target))
