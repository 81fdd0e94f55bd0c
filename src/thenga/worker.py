"""The other processes: the outbox relay, the event consumers, the audit sealer and the jobs."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

import structlog
import uvloop

from thenga import starting, topology
from thenga.domains.identity.public import Decisions
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.files.scanner import watch
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process import health, logs
from thenga.kernel.process.settings import Settings, load
from thenga.kernel.standing.figures import FigureSide
from thenga.starting import make_host

_LINE_EVERY = 12  # beats

log = structlog.get_logger()


def main() -> None:
    """Run until SIGTERM or SIGINT."""
    settings = load()
    starting.check_serving(settings, topology.load(topology.names_here(settings)))
    logs.configure(json=True)
    uvloop.run(_run(settings))


async def _run(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    host = make_host(settings)
    domains = topology.load(topology.names_here(settings))
    topology.bind(host, domains, gate=Decisions)
    log.info("worker.process.started", domains=[domain.name for domain in domains])
    try:
        async with asyncio.TaskGroup() as group:
            mesh = MeshSide(host, domains)
            sides = [
                group.create_task(_side("mesh", mesh.run, stop)),
                group.create_task(_side("jobs", JobSide(host, domains).run, stop)),
            ]
            group.create_task(_beat(stop))
            group.create_task(FigureSide(host, domains, mesh.consumers).run(stop))
            group.create_task(watch(host.scanner, stop))
            await stop.wait()
            await _end_in_time(sides, settings.drain_seconds)
    finally:
        await host.engines.close()
        log.info("worker.process.ended")


async def _side(
    name: str, run: Callable[[asyncio.Event], Awaitable[None]], stop: asyncio.Event
) -> None:
    await run(stop)
    if not stop.is_set():
        # It does so where no domain of this process gives it anything to do.
        log.warning("worker.side.idle", side=name)


async def _end_in_time(sides: list[asyncio.Task[None]], seconds: float) -> None:
    _, late = await asyncio.wait(sides, timeout=seconds)
    for side in late:
        log.warning("worker.process.cut_short", after_seconds=seconds)
        side.cancel()


async def _beat(stop: asyncio.Event) -> None:
    """What `thenga health` reads, and a line a minute, so that silence means something."""
    for number in count():
        if stop.is_set():
            return
        health.beat()
        if number % _LINE_EVERY == 0:
            log.info("worker.process.alive")
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), health.BEAT_SECONDS)
