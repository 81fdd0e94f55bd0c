"""The jobs of the probe, and a worker process that tests may stop, wake and kill.

While the file that PROBE_GATE names exists, the jobs of such a process wait there.
"""

import asyncio
import os
import signal
import sys
from abc import abstractmethod
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Protocol
from uuid import UUID

from tests.probe import Effect
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import Conflict, NotFound
from thenga.kernel.jobs.run import Run
from thenga.kernel.jobs.runner import JobSide, Pace
from thenga.kernel.process import logs
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.starting import make_host

QUICK = Pace(
    poll_seconds=0.1, heartbeat_seconds=0.3, stalled_seconds=2, sweep_seconds=0.5, first_delay=0.2
)
CALM = replace(QUICK, stalled_seconds=60)  # a busy machine is not taken for a dead worker
GATE = Path(os.environ["PROBE_GATE"]) if "PROBE_GATE" in os.environ else None
EVERYWHERE = UUID(int=7)  # the organization that the periodic job writes for

jobs = Jobs("probe")
ticking = Jobs("probe")


class Outside(Protocol):
    async def call(self, thing_id: UUID, *, key: str) -> None: ...


class Caller:
    """Stands for a provider: remembers which keys it was called with."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.answers = asyncio.Event()
        self.answers.set()

    async def call(self, thing_id: UUID, *, key: str) -> None:
        self.keys.append(key)
        await self.answers.wait()


caller = Caller()
SEEN: list[str] = []


async def _effect(work: Work, thing_id: UUID, cause: str) -> None:
    effect = Effect(organization_id=work.organization_id, thing_id=thing_id, cause=cause)
    await work.add(effect)


async def _pause(milliseconds: int) -> None:
    if GATE is not None:
        print("at the gate", flush=True)
        while GATE.exists():
            await asyncio.sleep(0.02)
    await asyncio.sleep(milliseconds / 1000)


@jobs.queued()
async def simply(work: Work, *, thing_id: UUID, pause: int = 0) -> None:
    await _effect(work, thing_id, "simply")
    await _pause(pause)


@jobs.queued(key="{thing_id}")
async def keyed(work: Work, *, thing_id: UUID, pause: int = 0) -> None:
    await _effect(work, thing_id, "keyed")
    await _pause(pause)


@jobs.queued(key="{thing_id}", retries=2)
async def never_right(work: Work, *, thing_id: UUID) -> None:
    await _effect(work, thing_id, "never_right")
    SEEN.append("never_right")
    raise RuntimeError("not now")


@jobs.queued()
async def refused(work: Work, *, thing_id: UUID, status: int) -> None:
    SEEN.append(f"refused {status}")
    raise Conflict() if status == 409 and SEEN.count("refused 409") < 2 else NotFound()


@jobs.outside(key="{thing_id}")
async def call_outside(run: Run, *, thing_id: UUID, pause: int = 0) -> None:
    async with run.reading() as read:
        await read.find(Effect, id=thing_id)
    await run.adapter(Outside).call(thing_id, key=run.key)
    await _pause(pause)
    async with run.working() as work:
        await _effect(work, thing_id, "outside")


class Greetings(Port, name="probe.greetings", timeout=20.0):
    """Answers with a greeting; asked by a job."""

    @abstractmethod
    async def greet(self, *, thing_id: UUID) -> str: ...


class LocalGreetings(Greetings):
    async def greet(self, *, thing_id: UUID) -> str:
        return f"hello {thing_id}"


@jobs.outside()
async def ask_port(run: Run, *, thing_id: UUID) -> None:
    said = await run.port(Greetings).greet(thing_id=thing_id)
    async with run.working() as work:
        await _effect(work, thing_id, said)


@jobs.outside()
async def record_and_fall(run: Run, *, thing_id: UUID) -> None:
    SEEN.append("record_and_fall")
    async with run.working() as work:
        await _effect(work, thing_id, "record_and_fall")
    raise RuntimeError("after the record")


@ticking.every(timedelta(seconds=1))
async def beat(work: Work) -> None:
    effect = Effect(organization_id=EVERYWHERE, thing_id=EVERYWHERE, cause="beat")
    await work.add(effect)


@ticking.every(timedelta(days=1))
async def daily(work: Work) -> None:
    work.enqueue(simply, organization_id=EVERYWHERE, thing_id=EVERYWHERE)


def domain(of: Jobs) -> Domain:
    home = Path(__file__).parent.parent / "probe"
    return Domain("probe", home, jobs=of, adapters={Outside: lambda host: caller})


def side(host: Host, of: Jobs = jobs, pace: Pace = QUICK) -> JobSide:
    return JobSide(host, [domain(of)], pace=pace)


async def main() -> None:
    logs.configure(json=True, stream=sys.stderr.buffer)
    host = make_host(Settings())
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    print("ready", flush=True)
    # On a busy machine its own sweep would hand on what waits at the gate.
    pace = replace(QUICK, sweep_seconds=600) if GATE else QUICK
    await side(host, pace=pace).run(stop)
    await host.engines.close()


if __name__ == "__main__":
    asyncio.run(main())
