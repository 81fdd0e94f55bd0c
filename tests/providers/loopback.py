"""Servers on loopback and a worker of Billing alone, inside the test's own event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import uvicorn

from tests.suites import clocks
from thenga import topology
from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host
from thenga.tooling.dev.processes import free_ports

_RHYTHM = timedelta(milliseconds=200)


def worker(host: Host) -> AbstractAsyncContextManager[None]:
    """Does Billing's jobs, looks after payments and refunds every moment, and leaves the rest."""
    (domain,) = (one for one in topology.load(topology.DOMAINS) if one.name == "billing")
    jobs = Jobs("billing")
    for name, job in (domain.jobs.declared if domain.jobs else {}).items():
        ticks = name in ("find_to_poll_payment", "find_to_poll_refund")
        jobs.declared[name] = replace(job, rhythm=_RHYTHM if ticks else None)
    return clocks.running([JobSide(host, [replace(domain, jobs=jobs)])])


@asynccontextmanager
async def serving(app: Any, port: int | None = None) -> AsyncIterator[str]:
    """The address of the server, for as long as the block lasts."""
    chosen = port or free_ports(1)[0]
    config = uvicorn.Config(
        app, host="127.0.0.1", port=chosen, log_config=None, lifespan="off", access_log=False
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{chosen}"
    finally:
        server.should_exit = True
        await running
