"""Who holds a job: whatever is written for it names the attempt and the worker it was given to.

A worker that was paused and wakes up after its job went to another no longer holds it: it can
write neither the effect nor the end of the job.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import LiteralString

import structlog
from procrastinate.connector import BaseConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job as Row
from procrastinate.jobs import Status
from procrastinate.manager import JobManager, NotificationCallback
from procrastinate.retry import RetryDecision

from thenga.kernel.jobs.lease import Lease

log = structlog.get_logger()

_UNKNOWN_AGAIN = 15  # seconds
_UNKNOWN_MOST = 200  # attempts, about an hour: longer than any roll-out has two versions running
_SETTLE_TRIES = 5


def lease_of(row: Row) -> Lease:
    """The lease that fetching the job gave."""
    if row.id is None or row.worker_id is None:
        raise LookupError("this job was not fetched by a worker")
    return Lease(row.id, row.attempts, row.worker_id)


_HELD: LiteralString = (
    "WHERE id = %(id)s AND status = 'doing' AND attempts = %(attempt)s AND worker_id = %(worker)s"
    " RETURNING id"
)
_DELETE: LiteralString = "DELETE FROM procrastinate_jobs " + _HELD
_FINISH: LiteralString = (
    "UPDATE procrastinate_jobs SET attempts = attempts + 1,"
    " status = %(status)s::procrastinate_job_status " + _HELD
)
# The key is given up: while this job was done, another may have begun to wait under it, and two
# that wait under one key are refused. The lock stays, so they are still done one after the other.
_AGAIN: LiteralString = (
    "UPDATE procrastinate_jobs SET attempts = attempts + 1, status = 'todo', queueing_lock = NULL,"
    " scheduled_at = %(retry_at)s::timestamptz " + _HELD
)
_BEAT: LiteralString = (
    "UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id = %(worker)s RETURNING id"
)


class FencedManager(JobManager):
    """Procrastinate's manager, whose own end and retry of a job do not ask who holds it."""

    def __init__(self, connector: BaseConnector, known: Collection[str]) -> None:
        super().__init__(connector)
        self._known = known
        # Set when this worker was taken for dead, or lost a connection beside its jobs.
        # Procrastinate notices neither, and would go on fetching jobs that it cannot hold.
        self.broken = asyncio.Event()

    async def finish_job(self, job: Row, status: Status, delete_job: bool) -> None:
        if job.task_name not in self._known and job.attempts < _UNKNOWN_MOST:
            # During a roll-out the other version knows it.
            again = RetryDecision(retry_in={"seconds": _UNKNOWN_AGAIN})
            await self._settle(_AGAIN, job, retry_at=again.retry_at)
        elif delete_job:
            await self._settle(_DELETE, job)
        else:
            await self._settle(_FINISH, job, status=status.value)

    async def retry_job(
        self,
        job: Row,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        await self._settle(_AGAIN, job, retry_at=retry_at)

    async def update_heartbeat(self, worker_id: int) -> None:
        with self._breaking():
            if not await self.connector.execute_query_all_async(_BEAT, worker=worker_id):
                log.warning("jobs.worker.forgotten", worker=worker_id)
                self.broken.set()

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        with self._breaking():
            await super().listen_for_jobs(on_notification=on_notification, queues=queues)

    async def prune_stalled_workers(self, seconds_since_heartbeat: float) -> list[int]:
        return []  # our own sweep does it, after it has handed on their jobs

    async def _settle(self, text: LiteralString, job: Row, **more: object) -> None:
        lease = lease_of(job)
        names = {"id": lease.job_id, "attempt": lease.attempt, "worker": lease.worker_id}
        for attempt in range(_SETTLE_TRIES):
            try:
                done = await self.connector.execute_query_all_async(text, **names, **more)
            except ConnectorException:
                await asyncio.sleep(0.1 * 2**attempt)
                continue
            if not done:
                log.info("jobs.job.lease_lost", job=job.id, task=job.task_name)
            return
        log.warning("jobs.job.unsettled", job=job.id, task=job.task_name)
        self.broken.set()

    @contextmanager
    def _breaking(self) -> Iterator[None]:
        try:
            yield
        except ConnectorException:
            log.exception("jobs.worker.disconnected")
            self.broken.set()
