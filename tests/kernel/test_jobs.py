"""Jobs on real servers: once, in the caller's transaction, and by whoever holds them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.conftest import Opening
from tests.errand import MIGRATIONS as ERRAND_MIGRATIONS
from tests.kernel import job_worker as probe
from tests.kernel.job_worker import CALM, QUICK, SEEN, side, ticking
from tests.kernel.running import until
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.declare.job import Job, Jobs
from thenga.kernel.jobs.runner import Pace, _Side
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
async def clean(host: Host) -> None:
    SEEN.clear()
    probe.caller.keys.clear()
    for table in ("procrastinate_jobs", "procrastinate_periodic_defers", "effect"):
        await _system(host, f"DELETE FROM probe.{table}")


async def _system(host: Host, text: str, *arguments: object, domain: str = "probe") -> list[Any]:
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        return list(await connection.fetch(text, *arguments))


async def _left(host: Host) -> Counter[str]:
    rows = await _system(host, "SELECT status::text FROM probe.procrastinate_jobs")
    return Counter(row[0] for row in rows)


async def _effects(host: Host, cause: str) -> Counter[UUID]:
    rows = await _system(host, "SELECT thing_id FROM probe.effect WHERE cause = $1", cause)
    return Counter(row[0] for row in rows)


async def _until(host: Host, settled: Callable[[Counter[str]], bool]) -> Counter[str]:
    deadline = time.monotonic() + 60
    while not settled(left := await _left(host)):
        assert time.monotonic() < deadline, left
        await asyncio.sleep(0.05)
    return left


def _done(left: Counter[str]) -> bool:
    return not left["todo"] and not left["doing"]


async def _enqueue(opening: Opening, job: Job, count: int = 1, **arguments: int) -> list[UUID]:
    work = opening.work(new_id())
    things = [new_id() for _ in range(count)]
    for thing_id in things:
        work.enqueue(job, after=None, organization_id=None, thing_id=thing_id, **arguments)
    await work.finish()
    return things


@asynccontextmanager
async def _working(host: Host, of: Jobs = probe.jobs, pace: Pace = CALM) -> AsyncIterator[None]:
    stop = asyncio.Event()
    running = asyncio.create_task(side(host, of, pace).run(stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(running, 60)


@pytest.fixture
def child() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts worker processes; what is left of them is ended after the test."""
    started: list[subprocess.Popen[str]] = []

    def start(**more: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.kernel.job_worker"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"} | more,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait(10)


async def test_a_job_is_enqueued_in_the_callers_transaction(host: Host, opening: Opening) -> None:
    work = opening.work(new_id())
    work.enqueue(probe.simply, thing_id=new_id())
    await work.close()
    assert not await _left(host)

    await _enqueue(opening, probe.simply)
    assert await _left(host) == {"todo": 1}


async def test_a_job_runs_once_and_soon(host: Host, opening: Opening) -> None:
    async with _working(host, pace=Pace()):
        await _enqueue(opening, probe.simply)
        await _until(host, _done)
        begun = time.monotonic()
        things = await _enqueue(opening, probe.simply)
        await _until(host, _done)
        pickup = time.monotonic() - begun

    assert (await _effects(host, "simply"))[things[0]] == 1
    audited = await _system(
        host, "SELECT entry FROM probe.audit_entry WHERE entry LIKE $1", f"%{things[0]}%"
    )
    assert len(audited) == 1
    assert "probe.simply" in audited[0][0]
    print(f"\njobs pickup_and_done_ms={pickup * 1000:.0f}")


async def test_what_waits_under_a_key_waits_once(host: Host, opening: Opening) -> None:
    organization_id, thing_id = new_id(), new_id()
    for _ in range(3):
        work = opening.work(organization_id)
        work.enqueue(probe.keyed, thing_id=thing_id)
        await work.finish()
    stranger = opening.work(new_id())
    stranger.enqueue(probe.keyed, thing_id=thing_id)
    await stranger.finish()
    assert await _left(host) == {"todo": 2}  # one an organization

    async with _working(host):
        await _until(host, _done)
    assert (await _effects(host, "keyed"))[thing_id] == 2


async def test_a_failing_job_is_tried_again_and_then_failed(host: Host, opening: Opening) -> None:
    organization_id, thing_id = new_id(), new_id()
    async with _working(host):
        for _ in range(2):  # the second waits behind the first, which comes back to wait
            work = opening.work(organization_id)
            work.enqueue(probe.never_right, thing_id=thing_id)
            await work.finish()
            await _until(host, lambda left: bool(left["doing"]) or _done(left) or bool(SEEN))
        left = await _until(host, _done)

    assert left["failed"] in (1, 2)
    assert SEEN.count("never_right") == 3 * left["failed"]
    assert not await _effects(host, "never_right")


async def test_a_refusal_that_stays_is_not_tried_again(host: Host, opening: Opening) -> None:
    await _enqueue(opening, probe.refused, status=404)
    await _enqueue(opening, probe.refused, status=409)
    async with _working(host):
        left = await _until(host, _done)

    assert left == {"failed": 2}
    assert Counter(SEEN) == {"refused 404": 1, "refused 409": 2}


async def test_an_effect_that_is_recorded_is_not_made_again(host: Host, opening: Opening) -> None:
    things = await _enqueue(opening, probe.record_and_fall)
    called = await _enqueue(opening, probe.call_outside)
    async with _working(host):
        left = await _until(host, _done)

    assert not left
    assert SEEN == ["record_and_fall"]  # the second attempt found the record and did nothing
    assert await _effects(host, "record_and_fall") == {things[0]: 1}
    assert await _effects(host, "outside") == {called[0]: 1}
    assert len(probe.caller.keys) == 1


async def test_a_job_asks_another_domains_port(settings: Settings, opening: Opening) -> None:
    host = make_host(settings)
    host.bindings.bind(probe.Greetings, probe.LocalGreetings())
    (thing,) = await _enqueue(opening, probe.ask_port)

    async with _working(host):
        await _until(host, _done)

    assert await _effects(host, f"hello {thing}") == {thing: 1}
    await host.close()


async def test_running_jobs_are_handed_back_at_the_end(host: Host, opening: Opening) -> None:
    short = host.settings.drain_seconds
    host.settings.drain_seconds = 0.5
    probe.caller.answers.clear()
    try:
        async with _working(host):
            things = await _enqueue(opening, probe.call_outside)
            await _until(host, lambda left: bool(left["doing"]) and bool(probe.caller.keys))
    finally:
        host.settings.drain_seconds = short
        probe.caller.answers.set()
    assert await _left(host) == {"todo": 1}

    async with _working(host):
        await _until(host, _done)
    assert await _effects(host, "outside") == {things[0]: 1}
    assert len(set(probe.caller.keys)) == 1  # called twice, with one key


async def test_a_paused_worker_cannot_finish_what_went_to_another(
    host: Host, opening: Opening, child: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    paused = child(PROBE_GATE=str(gate))
    await _enqueue(opening, probe.keyed, 4)
    await _enqueue(opening, probe.call_outside, 4)
    async with asyncio.timeout(60):
        assert await asyncio.to_thread(_lines, paused, 8) == {"at the gate\n"}
    former = await _workers(host)
    paused.send_signal(signal.SIGSTOP)
    gate.unlink()
    begun = time.monotonic()
    async with _working(host, pace=QUICK):
        left = await _until(host, _done)
        found = time.monotonic() - begun
        await until(lambda: _is_forgotten(host, former))
        successors = await _workers(host)
        paused.send_signal(signal.SIGCONT)
    # It registers anew once all that it did before has ended.
    await until(lambda: _is_joined(host, former | successors))
    after = await _enqueue(opening, probe.simply, 8)
    await _until(host, _done)

    effects = await _effects(host, "keyed") + await _effects(host, "outside")
    double = sum(1 for n in effects.values() if n > 1)
    print(f"\npaused jobs=8 double={double} lost={8 - len(effects)} handed_on_s={found:.1f}")
    assert (len(effects), double, dict(left)) == (8, 0, {})
    assert len(await _effects(host, "simply")) == len(after)
    assert paused.poll() is None


def _lines(process: subprocess.Popen[str], count: int) -> set[str]:
    assert process.stdout is not None
    return {process.stdout.readline() for _ in range(count)}


async def _workers(host: Host) -> set[int]:
    return {row[0] for row in await _system(host, "SELECT id FROM probe.procrastinate_workers")}


async def _is_forgotten(host: Host, workers: set[int]) -> bool:
    return not workers & await _workers(host)


async def _is_joined(host: Host, known: set[int]) -> bool:
    return bool(await _workers(host) - known)


async def test_a_killed_worker_loses_and_doubles_nothing(
    host: Host, opening: Opening, child: Callable[..., subprocess.Popen[str]]
) -> None:
    workers = [child(), child()]
    begun = time.monotonic()
    await _enqueue(opening, probe.simply, 300, pause=30)
    await _enqueue(opening, probe.keyed, 100, pause=30)
    await _enqueue(opening, probe.call_outside, 100, pause=30)
    while len(await _effects(host, "simply")) < 100:
        await asyncio.sleep(0.02)
        assert time.monotonic() - begun < 60
    workers[0].kill()
    left = await _until(host, _done)

    effects = Counter[UUID]()
    for cause in ("simply", "keyed", "outside"):
        effects += await _effects(host, cause)
    double = sum(1 for n in effects.values() if n > 1)
    seconds = time.monotonic() - begun
    print(f"\nkilled jobs=500 double={double} lost={500 - len(effects)} seconds={seconds:.1f}")
    assert (len(effects), double, dict(left)) == (500, 0, {})


async def test_a_periodic_job_fires_once_a_tick(host: Host) -> None:
    text = "SELECT created_at FROM probe.effect WHERE cause = 'beat' ORDER BY 1"
    begun = int(time.time())

    async def beaten() -> bool:
        return len(await _system(host, text)) >= 5

    async with _working(host, ticking), _working(host, ticking):
        await until(beaten)
        beats = await _system(host, text)

    # A run may come late, and a busy machine may sleep through a tick; no tick has two.
    ticks = int(beats[-1][0].timestamp()) - begun + 1
    print(f"\nperiodic ticks={ticks} runs={len(beats)}")
    assert len(beats) <= ticks
    # The daily one came once, for today, and enqueued for the organization it named.
    enqueued = await _system(
        host,
        "SELECT args->>'organization_id' FROM probe.procrastinate_jobs "
        "WHERE task_name = 'probe.simply'",
    )
    assert [row[0] for row in enqueued] == [str(probe.EVERYWHERE)]


@pytest.fixture(scope="module")
def errand(settings: Settings) -> str:
    migrate(settings, [Migrated("errand", ERRAND_MIGRATIONS)])
    return "errand"


async def test_a_domain_cannot_see_the_jobs_of_another(host: Host, errand: str) -> None:
    for login in ("probe", "probe_system"):
        async with host.engines.connection("probe", login) as connection:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch("SELECT id FROM errand.procrastinate_jobs")
    async with host.engines.connection("probe", "probe") as connection:
        for column in ("args", "task_name"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.fetch(f"SELECT {column} FROM probe.procrastinate_jobs")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("DELETE FROM probe.procrastinate_jobs")
    seen = await _system(
        host,
        """
        SELECT role.rolname, class.oid::regclass::text
        FROM pg_roles AS role, pg_class AS class JOIN pg_namespace AS home
            ON home.oid = class.relnamespace
        WHERE class.relname LIKE 'procrastinate%' AND class.relkind = 'r' AND NOT role.rolsuper
          AND role.rolname NOT LIKE 'pg\\_%'
          AND has_schema_privilege(role.oid, home.oid, 'USAGE')
          AND has_any_column_privilege(role.oid, class.oid, 'SELECT')
          AND split_part(role.rolname, '_', 1) <> home.nspname
        """,
    )
    assert seen == []


async def test_the_application_may_only_cancel(host: Host, opening: Opening) -> None:
    await _enqueue(opening, probe.simply)
    async with host.engines.connection("probe", "probe") as connection:
        for status in ("succeeded", "failed", "doing"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(f"UPDATE probe.procrastinate_jobs SET status = '{status}'")


async def test_jobs_a_second(host: Host, opening: Opening) -> None:
    await _enqueue(opening, probe.simply, 300)
    await _enqueue(opening, probe.keyed, 300)
    begun = time.monotonic()
    async with _working(host, pace=Pace()):
        await _until(host, _done)
        seconds = time.monotonic() - begun

    made = await _system(host, "SELECT count(*) FROM probe.effect")
    print(f"\nthroughput jobs=600 seconds={seconds:.2f} jobs_per_second={600 / seconds:.0f}")
    assert made[0][0] == 600


async def test_care_ends_when_its_connection_fails_on_cancelling(host: Host) -> None:
    began = asyncio.Event()
    failed: list[str] = []

    async def failing() -> float:
        began.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            if failed:
                raise
            failed.append("closed in the middle of a statement")
            raise ConnectionError(*failed) from None
        return 0.0

    caring = asyncio.create_task(_Side(host, probe.domain(Jobs("probe")), Pace())._again(failing))
    await began.wait()
    caring.cancel()
    done, _ = await asyncio.wait({caring}, timeout=60)

    print(f"\nfailed={len(failed)} ended={len(done)}")
    assert (len(failed), done) == (1, {caring})
