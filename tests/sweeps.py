"""Waits for a running worker by what it has done: so many sweeps, or no job left.

A test that shows that nothing happens awaits these instead of a time.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from thenga import topology
from thenga.kernel.process.host import Host

_PAUSE = 0.02
_TICKS = "SELECT id, task_name, job_id FROM {domain}.procrastinate_periodic_defers"
_JOBS = "SELECT id, status::text FROM {domain}.procrastinate_jobs WHERE id = ANY ($1)"
_WAITING = """
    SELECT count(*) FROM {domain}.procrastinate_jobs
    WHERE args ->> 'organization_id' = $1
      AND (status = 'doing' OR status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now()))
"""


@dataclass
class _Sweep:
    """How far one periodic job has come."""

    tick: int  # the newest tick that was counted, or that came before the wait
    left: int
    is_waited_for: bool = False  # whether that tick's job is still to be done
    job_id: int | None = None

    def begin(self, tick: int, job_id: int | None) -> None:
        """Wait for the job of the next tick; a job that is done leaves no id."""
        if not self.is_waited_for and tick > self.tick:
            self.tick, self.job_id, self.is_waited_for = tick, job_id, True

    def end(self, statuses: dict[int, str]) -> None:
        """Count the job once it is done."""
        status = statuses.get(self.job_id) if self.job_id is not None else None
        assert status in (None, "todo", "doing", "succeeded"), f"a sweep is {status}"
        if self.is_waited_for and status in (None, "succeeded"):
            self.left, self.is_waited_for = self.left - 1, False


async def after_sweeps(
    host: Host,
    domain: str,
    organization_id: UUID,
    *names: str,
    count: int = 2,
    seconds: float = 180,
) -> None:
    """Wait for so many sweeps of each name that begin from now on, and for the jobs they enqueue.

    Without names these are all sweeps of the domain that find due rows.
    """
    wanted = names or _finders(domain)
    async with asyncio.timeout(seconds):
        known = {tick["task_name"]: tick["id"] for tick in await _fetch(host, domain, _TICKS)}
        tasks = [f"{domain}.{name}" for name in wanted]
        sweeps = {task: _Sweep(known.get(task, 0), count) for task in tasks}
        while any(sweep.left > 0 for sweep in sweeps.values()):
            await asyncio.sleep(_PAUSE)
            for tick in await _fetch(host, domain, _TICKS):
                if tick["task_name"] in sweeps:
                    sweeps[tick["task_name"]].begin(tick["id"], tick["job_id"])
            ids = [sweep.job_id for sweep in sweeps.values() if sweep.job_id is not None]
            statuses = {row["id"]: row["status"] for row in await _fetch(host, domain, _JOBS, ids)}
            for sweep in sweeps.values():
                sweep.end(statuses)
        await until_idle(host, domain, organization_id, seconds=seconds)


async def until_idle(
    host: Host, domain: str, organization_id: UUID, *, seconds: float = 180
) -> None:
    """Wait until none of the organization's jobs is being done or could be done now."""
    async with asyncio.timeout(seconds):
        while (await _fetch(host, domain, _WAITING, str(organization_id)))[0][0]:
            await asyncio.sleep(_PAUSE)


def _finders(domain: str) -> list[str]:
    (declared,) = topology.load([domain])
    assert declared.jobs is not None
    found = [name for name in declared.jobs.declared if name.startswith("find_to_")]
    assert found, f"{domain} has no sweep that finds due rows"
    return found


async def _fetch(host: Host, domain: str, text: str, *arguments: object) -> Sequence[Any]:
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        return list(await connection.fetch(text.format(domain=domain), *arguments))
