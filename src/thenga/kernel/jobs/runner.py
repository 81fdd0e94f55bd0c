"""The process side of jobs: one Procrastinate worker a domain, its ticks and its sweep."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from random import SystemRandom
from typing import TYPE_CHECKING, Any

import structlog
from procrastinate import App, JobContext, PsycopgConnector
from procrastinate.jobs import Job as JobRow
from procrastinate.retry import BaseRetryStrategy, RetryDecision
from procrastinate.worker import Worker
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.configuration import jobs_of
from thenga.kernel.declare.job import Job
from thenga.kernel.errors import Problem
from thenga.kernel.events.inbox import AlreadyTaken
from thenga.kernel.jobs.fence import FencedManager, lease_of
from thenga.kernel.jobs.lease import LeaseLost
from thenga.kernel.jobs.run import Carried, Run, perform
from thenga.kernel.process import logs
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

if TYPE_CHECKING:
    from thenga.kernel.declare.manifest import Domain

log = structlog.get_logger()
_random = SystemRandom()

_KEPT_DAYS = 30  # failed and cancelled jobs; one that was done leaves no row
_MAY_PASS = (408, 409, 412, 429)  # refusals of the moment; the other 4xx stay what they are
# If the server falls, an end that was not kept makes the job run again, and then its inbox says
# that it is done; a start that was not kept leaves it waiting. The next job is found by index: the
# statistics of a queue are those of an empty table, and sorting all that waits is slow.
_CONNECTION = (
    "-c synchronous_commit=off -c enable_sort=off -c enable_seqscan=off -c enable_bitmapscan=off"
)
_POOLED, _LISTENING = 2, 1  # connections of Procrastinate for one domain
_MOST_HANDED_ON = 10  # attempts, after which a job is taken for what kills its workers


@dataclass(frozen=True)
class Pace:
    """The times of a worker; only tests have others."""

    concurrency: int = 8
    poll_seconds: float = 0.5
    heartbeat_seconds: float = 5.0
    stalled_seconds: float = 18.0
    sweep_seconds: float = 5.0
    first_delay: float = 1.0
    longest_delay: float = 300.0

    def delay(self, attempts: int) -> float:
        """How long to wait before the next attempt: anything up to a bound that grows."""
        return _random.uniform(0, min(self.longest_delay, self.first_delay * 3**attempts))


class JobSide:
    """The jobs of all domains of this process."""

    def __init__(self, host: Host, domains: Sequence["Domain"], *, pace: Pace | None = None):
        self._host = host
        self._sides = [_Side(host, d, pace or Pace()) for d in domains if jobs_of(d)]
        # Its lines repeat the arguments of every job that fails; we tell of those ourselves.
        logging.getLogger("procrastinate.worker").addFilter(lambda record: False)

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop`; what runs then has the drain time to finish and is handed back after it."""
        engines = self._host.engines
        with engines.reserved((_POOLED + _LISTENING) * len(self._sides)):
            async with asyncio.TaskGroup() as group:
                for side in self._sides:
                    group.create_task(side.run(stop))


class _Retries(BaseRetryStrategy):
    """Try again what may pass, ever later and at no common instant."""

    def __init__(self, job: Job, pace: Pace) -> None:
        self._job = job
        self._pace = pace

    def get_retry_decision(self, *, exception: BaseException, job: JobRow) -> RetryDecision | None:
        if isinstance(exception, asyncio.CancelledError):
            return RetryDecision()  # handed back: the process ends
        told = {"task": job.task_name, "job": job.id, "attempts": job.attempts + 1}
        if job.attempts >= self._job.retries or not _may_pass(exception):
            log.error("jobs.job.failed", **told, exc_info=exception)
            return None
        delay = self._pace.delay(job.attempts)
        log.warning("jobs.job.retried", **told, seconds=round(delay, 3), exc_info=exception)
        return RetryDecision(retry_in={"milliseconds": int(delay * 1000)})


def _may_pass(error: BaseException) -> bool:
    return not isinstance(error, Problem) or error.status >= 500 or error.status in _MAY_PASS


def _pool(**given: Any) -> AsyncConnectionPool[AsyncConnection[Any]]:
    # Procrastinate asks each connection whether it lives before it says anything; that is one
    # round trip in three, and a dead one only makes the worker begin again.
    return AsyncConnectionPool(**given | {"check": None})


async def _configure(connection: AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)


class _Side:
    """The worker of one domain."""

    def __init__(self, host: Host, domain: "Domain", pace: Pace) -> None:
        self._host = host
        self._domain = domain
        self._pace = pace
        self._login = f"{domain.name}_system"
        self._jobs: dict[str, Job] = jobs_of(domain)
        self._adapters: dict[type, Any] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Begin again whenever the worker ends for another reason than `stop`."""
        while not stop.is_set():
            try:
                await self._work(stop)
            except Exception:
                log.exception("jobs.worker.ended", domain=self._domain.name)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _random.uniform(0.2, 1.5))

    async def _work(self, stop: asyncio.Event) -> None:
        app, manager = self._app()
        async with app.open_async():
            worker = self._worker(app)
            working = asyncio.create_task(worker.run())  # type: ignore[no-untyped-call]  # upstream
            ends = [asyncio.create_task(each.wait()) for each in (stop, manager.broken)]
            care = [
                self._sweep,
                self._forget,
                *(self._ticking(j) for j in self._jobs.values() if j.rhythm),
            ]
            beside = [asyncio.create_task(self._again(each)) for each in care]
            try:
                await asyncio.wait({working, *ends}, return_when=asyncio.FIRST_COMPLETED)
                worker.stop()  # type: ignore[no-untyped-call]  # upstream
                await working
            finally:
                for task in (*beside, *ends, working):
                    task.cancel()
                await asyncio.gather(*beside, *ends, working, return_exceptions=True)

    def _app(self) -> tuple[App, FencedManager]:
        connector = PsycopgConnector(
            conninfo=self._host.engines.address(self._domain.name, self._login),
            pool_factory=_pool,
            configure=_configure,
            min_size=1,
            max_size=_POOLED,
            kwargs={
                "application_name": f"thenga jobs {self._domain.name}",
                "connect_timeout": 10,
                "options": f"{_CONNECTION} -c search_path={self._domain.name}",
            },
        )
        app = App(connector=connector)
        for job in self._jobs.values():
            retries = _Retries(job, self._pace)
            task = app.task(name=job.task, queue=job.domain, pass_context=True, retry=retries)
            task(self._performing(job))
        app.job_manager = manager = FencedManager(connector, frozenset(app.tasks))
        return app, manager

    def _worker(self, app: App) -> Worker:
        pace = self._pace
        return Worker(
            app,
            queues=[self._domain.name],
            name=self._domain.name,
            concurrency=pace.concurrency,
            fetch_job_polling_interval=pace.poll_seconds,
            abort_job_polling_interval=60.0,  # we cancel what waits and abort nothing
            # Something is left of the drain time for handing back.
            shutdown_graceful_timeout=self._host.settings.drain_seconds * 0.8,
            delete_jobs="successful",
            install_signal_handlers=False,
            update_heartbeat_interval=pace.heartbeat_seconds,
            stalled_worker_timeout=pace.stalled_seconds,
        )

    def _performing(self, job: Job) -> Callable[..., Awaitable[None]]:
        async def performing(context: JobContext, **carried: Any) -> None:
            lease = lease_of(context.job)
            given = Carried.model_validate(carried)
            logs.request_id.set(str(given.id))
            logs.traceparent.set(given.traceparent)
            # A worker is taken for dead no sooner than its transactions have been ended.
            idle = self._pace.stalled_seconds
            run = Run(self._host, job, given, lease, idle, self._adapter)
            try:
                await perform(run)
            except AlreadyTaken:
                log.info("jobs.job.done_already", task=job.task, job=lease.job_id)
            except LeaseLost:
                log.warning("jobs.job.lease_lost", task=job.task, job=lease.job_id)

        return performing

    def _adapter(self, protocol: type) -> Any:
        if protocol not in self._adapters:
            self._adapters[protocol] = self._domain.adapters[protocol](self._host)
        return self._adapters[protocol]

    async def _again(self, doing: Callable[[], Awaitable[float]]) -> None:
        """Do it until cancelled; it says how many seconds later the next time is."""
        task, pause = asyncio.current_task(), 0.0
        # A statement that is cancelled may end with an error of its connection instead.
        while task and not task.cancelling():
            await asyncio.sleep(pause)
            try:
                pause = await doing()
            except Exception:
                log.exception("jobs.care.failed", domain=self._domain.name)
                pause = 1.0

    def _ticking(self, job: Job) -> Callable[[], Awaitable[float]]:
        async def tick() -> float:
            rhythm = (job.rhythm or timedelta(minutes=1)).total_seconds()
            made = new_id()
            origin = Origin(job.task, request_id=str(made), correlation_id=str(made))
            carried = job.enqueued({}, Scope(actor=SYSTEM), origin, None).arguments
            name = self._domain.name
            async with (
                self._host.engines.connection(name, self._login) as connection,
                connection.transaction(),
            ):
                # One at a time, and the time is read behind the lock: a worker that was paused
                # here cannot give a tick that is over to the others.
                await connection.execute("SELECT pg_advisory_xact_lock(hashtext($1))", job.task)
                wait: float = await connection.fetchval(_tick_text(name), rhythm, job.task, carried)
            return wait

        return tick

    async def _sweep(self) -> float:
        name = self._domain.name
        stalled = timedelta(seconds=self._pace.stalled_seconds)
        async with self._host.engines.connection(name, self._login) as connection:
            found = await connection.fetch(_hand_on_text(name), stalled, _MOST_HANDED_ON)
            await connection.execute(_forget_workers_text(name), stalled)
        for row in found:
            told = {"task": row["task_name"], "job": row["id"], "attempts": row["attempts"]}
            if row["status"] == "failed":
                log.error("jobs.job.failed", **told, reason="its workers died")
            else:
                log.warning("jobs.job.handed_on", **told)
        return self._pace.sweep_seconds * _random.uniform(0.8, 1.0)

    async def _forget(self) -> float:
        name = self._domain.name
        async with self._host.engines.connection(name, self._login) as connection:
            await connection.execute(_forget_jobs_text(name), timedelta(days=_KEPT_DAYS))
        return _random.uniform(200, 400)


@cache
def _tick_text(domain: str) -> str:
    return f"""
        WITH instant AS MATERIALIZED (
            SELECT extract(epoch FROM clock_timestamp())::float8 AS s
        ), beat AS (
            SELECT (floor(s / $1) * $1 * 1000)::bigint AS at,
                   (floor(s / $1) + 1) * $1 - s AS wait FROM instant
        ), given AS MATERIALIZED (
            SELECT {domain}.procrastinate_defer_periodic_job_v2(
                '{domain}', $2, $2, $2, 0, '', at, $3::jsonb
            ) AS id
            FROM beat
            WHERE NOT EXISTS (
                SELECT 1 FROM {domain}.procrastinate_periodic_defers
                WHERE task_name = $2 AND defer_timestamp >= at
            ) AND NOT EXISTS (
                SELECT 1 FROM {domain}.procrastinate_jobs
                WHERE queueing_lock = $2 AND status = 'todo'
            )
        )
        SELECT beat.wait + 0.002 FROM beat LEFT JOIN given ON true
    """  # the domain's name is a constant of ours


@cache
def _hand_on_text(domain: str) -> str:
    # A job whose transaction is still open is passed over; the server ends that one soon.
    return f"""
        WITH stalled AS (
            SELECT job.id FROM {domain}.procrastinate_jobs AS job
            LEFT JOIN {domain}.procrastinate_workers AS worker ON worker.id = job.worker_id
            WHERE job.status = 'doing'
              AND (worker.id IS NULL OR worker.last_heartbeat < now() - $1::interval)
            FOR UPDATE OF job SKIP LOCKED
        )
        UPDATE {domain}.procrastinate_jobs AS job
        SET status = CASE WHEN job.attempts < $2 THEN 'todo' ELSE 'failed' END
                ::{domain}.procrastinate_job_status,
            attempts = job.attempts + 1, queueing_lock = NULL, scheduled_at = NULL
        FROM stalled WHERE job.id = stalled.id
        RETURNING job.id, job.task_name, job.attempts, job.status::text
    """  # the domain's name is a constant of ours


@cache
def _forget_workers_text(domain: str) -> str:
    return f"""
        DELETE FROM {domain}.procrastinate_workers AS worker
        WHERE worker.last_heartbeat < now() - $1::interval AND NOT EXISTS (
            SELECT 1 FROM {domain}.procrastinate_jobs AS job
            WHERE job.worker_id = worker.id AND job.status = 'doing'
        )
    """  # the domain's name is a constant of ours


@cache
def _forget_jobs_text(domain: str) -> str:
    return f"""
        DELETE FROM {domain}.procrastinate_jobs WHERE id IN (
            SELECT job.id FROM {domain}.procrastinate_jobs AS job
            WHERE job.status IN ('failed', 'cancelled', 'aborted', 'succeeded')
              AND NOT EXISTS (
                SELECT 1 FROM {domain}.procrastinate_events AS event
                WHERE event.job_id = job.id AND event.at > now() - $1::interval
              )
            ORDER BY job.id LIMIT 1000
        )
    """  # the domain's name is a constant of ours
