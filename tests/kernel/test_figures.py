"""Figures of a domain: what waits shows soon, and what nobody has written lately is unknown."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from asyncpg.connection import LoggedQuery
from nats.aio.msg import Msg

from tests.conftest import Opening
from tests.kernel.running import make_things, running, until, until_true
from tests.probe import Thing, ThingMade
from tests.set_clock import SetClock
from tests.suites.sizes import size
from thenga.kernel.db.work import Work
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.reaction import Reactions
from thenga.kernel.events import consumer
from thenga.kernel.events.consumer import Lanes
from thenga.kernel.events.relay import Relay
from thenga.kernel.events.subscriptions import by_source
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.process.host import Host
from thenga.kernel.standing import figures
from thenga.kernel.standing.figures import Figures, FigureSide, FigureValue
from thenga.kernel.values.ids import made_at, new_id
from thenga.starting import make_host

PROBE = Domain(name="probe", home=Path(__file__).parents[1] / "probe")


def asked(host: Host, domain: Domain = PROBE) -> Figures:
    answering = figures.local_figures(host, domain.name, sorted(by_source(domain)))
    assert isinstance(answering, Figures)
    return answering


async def current(host: Host, domain: Domain = PROBE) -> dict[str, FigureValue]:
    return {one.key: one for one in await asked(host, domain).current()}


async def value(host: Host, key: str, domain: Domain = PROBE) -> int | datetime | None:
    return (await current(host, domain))[key].value


@pytest.fixture
async def clean(host: Host) -> None:
    """Nothing waits, and nobody has written a figure."""
    async with host.engines.connection("probe", "probe_system") as connection:
        await connection.execute("DELETE FROM probe.figure")
        await connection.execute("DELETE FROM probe.parked_event")
        await connection.execute(
            "UPDATE probe.outbox SET published_at = now() WHERE published_at IS NULL"
        )


@pytest.mark.usefixtures("clean")
async def test_a_stopped_relay_shows_within_two_turns(host: Host, opening: Opening) -> None:
    every = size(1, int(figures.EVERY))
    organization_id = new_id()
    side = FigureSide(host, [PROBE], every=every)
    async with running(side):
        async with running(Relay(host, "probe")):
            await make_things(opening, organization_id, 3)
            made = host.now()

            async def relayed() -> bool:
                waiting = (await current(host))["outbox.waiting"]
                return waiting.value == 0 and waiting.as_of is not None and waiting.as_of > made

            await until(relayed)
        began = time.perf_counter()
        await make_things(opening, organization_id, 5)

        async def grown() -> bool:
            waiting = await value(host, "outbox.waiting")
            return isinstance(waiting, int) and waiting >= 5

        await until(grown, seconds=2 * every + size(120, 0))
        seen = time.perf_counter() - began
        oldest = await value(host, "outbox.oldest_waiting")
        await until(lambda: _older(host, oldest), seconds=3 * every + size(120, 1))

    print(f"\nrelay_stopped made=5 every_s={every} seen_s={seen:.1f}")
    if size(0, 1):  # beside other work the wall clock tells of that work
        assert seen <= 2 * every
    assert figures.EVERY <= 15


async def _older(host: Host, than: int | datetime | None) -> bool:
    now = await value(host, "outbox.oldest_waiting")
    assert isinstance(than, int) and isinstance(now, int)
    return now > than


async def test_a_sandbox_event_waits_by_real_time(host: Host, opening: Opening) -> None:
    organization_id = new_id()
    work = opening.work(organization_id)
    work.now += timedelta(days=90)
    thing = await work.add(Thing(organization_id=organization_id, name="ahead"))
    work.publish(ThingMade(organization_id=organization_id, thing_id=thing.id))
    await work.finish()
    later = make_host(host.settings, clock=SetClock(host.now() + timedelta(seconds=20)))
    try:
        await figures.write(later, PROBE)

        oldest = await value(later, "outbox.oldest_waiting")
        assert isinstance(oldest, int) and oldest >= 20
    finally:
        await later.close()


def shown_though_silent(found: dict[str, FigureValue]) -> list[str]:
    """Figures that have a value although nobody has written them lately."""
    return [key for key, one in found.items() if one.value is not None]


@asynccontextmanager
async def silent(host: Host) -> AsyncIterator[Host]:
    """A minute after the last turn of a worker."""
    await figures.write(host, PROBE)
    later = make_host(host.settings, clock=SetClock(host.now() + timedelta(seconds=60)))
    try:
        yield later
    finally:
        await later.close()


@pytest.mark.usefixtures("clean")
async def test_a_silent_domain_is_unknown_and_never_0(host: Host) -> None:
    never = await current(host)
    async with silent(host) as later:
        old = await current(later)

    assert shown_though_silent(never) == []
    assert {one.as_of for one in never.values()} == {None}
    assert shown_though_silent(old) == []
    assert old["outbox.waiting"].as_of is not None


@pytest.mark.usefixtures("clean")
async def test_a_planted_figure_that_never_grows_old_is_found(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "KNOWN_FOR", timedelta(days=1))
    async with silent(host) as later:
        assert "outbox.waiting" in shown_though_silent(await current(later))


@pytest.mark.usefixtures("clean")
async def test_parked_events_and_jobs_are_counted(host: Host) -> None:
    async with host.engines.connection("probe", "probe_system") as connection:
        await connection.execute("DELETE FROM probe.procrastinate_jobs")
        await connection.execute(
            "INSERT INTO probe.parked_event (consumer, event_id, envelope, error, at) "
            "VALUES ('x', $1, '{}', 'Poison', now())",
            new_id(),
        )
        await connection.execute(
            "INSERT INTO probe.procrastinate_jobs (queue_name, task_name, status, scheduled_at) "
            "VALUES ('probe', 'a', 'todo', NULL), ('probe', 'b', 'todo', now() - interval '1 s'), "
            "('probe', 'later', 'todo', now() + interval '1 day'), "
            "('probe', 'c', 'failed', NULL)"
        )
        await figures.write(host, PROBE)
        found = await current(host)
        await connection.execute("DELETE FROM probe.procrastinate_jobs")

    counted = {key: found[key].value for key in ("events.parked", "jobs.waiting", "jobs.failed")}
    assert counted == {"events.parked": 1, "jobs.waiting": 2, "jobs.failed": 1}


@pytest.mark.usefixtures("clean")
async def test_what_waits_grows_old_also_without_a_worker(host: Host, opening: Opening) -> None:
    """An operator finds a dead worker by these ages (`/metrics`)."""
    own = replace(PROBE, waits={"things.oldest": "SELECT now() - interval '2 hours'"})
    async with host.engines.connection("probe", "probe_system") as connection:
        await connection.execute("DELETE FROM probe.procrastinate_jobs")
        await connection.execute(
            "INSERT INTO probe.procrastinate_jobs (queue_name, task_name, status, scheduled_at) "
            "VALUES ('probe', 'a', 'doing', now() - interval '1 hour'), "
            "('probe', 'later', 'todo', now() + interval '1 day')"
        )
        await make_things(opening, new_id(), 1)
        await figures.write(host, own)
        await connection.execute("DELETE FROM probe.procrastinate_jobs")
    later = make_host(host.settings, clock=SetClock(host.now() + timedelta(hours=5)))
    try:
        now, then = await figures.ages(host, own), await figures.ages(later, own)
    finally:
        await later.close()

    waits = ("outbox.oldest_waiting", "jobs.oldest_unfinished", "things.oldest")
    assert now.keys() == then.keys() == {*waits}
    assert 3600 <= now["jobs.oldest_unfinished"] < 7200
    assert 7200 <= now["things.oldest"] < 3 * 3600
    assert all(then[key] >= now[key] + 4 * 3600 for key in waits)


async def test_a_job_without_a_time_waits_since_it_was_asked_for(host: Host) -> None:
    async with host.engines.connection("probe", "probe_system") as connection:
        await connection.execute("DELETE FROM probe.procrastinate_jobs")
        await connection.execute(
            "INSERT INTO probe.procrastinate_jobs (queue_name, task_name) VALUES ('probe', 'a')"
        )
        await connection.execute(
            "UPDATE probe.procrastinate_events SET at = now() - interval '30 minutes'"
        )
        await figures.write(host, PROBE)
        await connection.execute("DELETE FROM probe.procrastinate_jobs")

    age = (await figures.ages(host, PROBE))["jobs.oldest_unfinished"]
    assert 1800 <= age < 3600


async def test_a_turn_is_one_statement_for_each_domain(host: Host) -> None:
    made: list[str] = []

    def note(record: LoggedQuery) -> None:
        made.append(record.query)

    async with host.engines.connection("probe", "probe_system") as connection:
        connection.add_query_logger(note)
    began = time.perf_counter()
    for _ in range(15):
        await figures.write(host, PROBE)
    took = time.perf_counter() - began
    await asyncio.sleep(0)  # it is told in the next turn of the loop
    connection.remove_query_logger(note)

    print(f"\nfigures domains=15 statements={len(made)} took_ms={took * 1000:.0f}")
    assert len(made) == 15


def hearing(gate: asyncio.Event) -> Domain:
    """A probe whose reaction waits."""
    reactions = Reactions("probe")

    @reactions.on(ThingMade)
    async def await_gate(work: Work, event: ThingMade) -> None:
        await gate.wait()

    return Domain(name="probe", home=PROBE.home, reactions=reactions)


@pytest.fixture
def empty_fetches(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One entry for each fetch of a consumer that came back empty; they come back soon."""
    found: list[None] = []
    fetch = consumer._fetch

    async def noting(*arguments: Any) -> list[Msg]:
        messages = await fetch(*arguments)
        if not messages:
            found.append(None)
        return messages

    monkeypatch.setattr(consumer, "_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(consumer, "_fetch", noting)
    return found


async def followed(
    host: Host, opening: Opening, empty_fetches: list[None]
) -> tuple[UUID, FigureValue, FigureValue, datetime]:
    """An organization whose event is held by a reaction: what the figures said of it."""
    gate, organization_id = asyncio.Event(), new_id()
    domain = hearing(gate)
    mesh = MeshSide(host, [domain])
    side = FigureSide(host, [domain], mesh.consumers, every=0.2)
    through, pending = "consumers.probe.through", "consumers.probe.pending"
    async with running(mesh, side):

        async def caught_up() -> bool:
            known = await current(host, domain)
            return known[pending].value == 0 and known[through].value is not None

        gate.set()
        await until(caught_up)
        gate.clear()
        await make_things(opening, organization_id, 2)

        async def held() -> bool:
            return await value(host, pending, domain) == 2

        await until(held)
        before = len(empty_fetches)
        await until_true(lambda: len(empty_fetches) >= before + 2)
        after_it = host.now()

        async def written() -> bool:
            as_of = (await current(host, domain))[pending].as_of
            return as_of is not None and as_of > after_it

        await until(written)
        found = await current(host, domain)
        gate.set()
        await until(caught_up)
        after = await value(host, through, domain)
    assert isinstance(after, datetime)
    return organization_id, found[through], found[pending], after


async def told_at(host: Host, organization_id: UUID) -> list[datetime]:
    async with host.engines.connection("probe", "probe_system") as connection:
        rows = await connection.fetch(
            "SELECT id, created_at FROM probe.outbox WHERE organization_id = $1", organization_id
        )
    return [min(row["created_at"], made_at(row["id"])) for row in rows]


@pytest.mark.usefixtures("clean")
async def test_a_consumer_has_come_no_further_than_what_it_holds(
    host: Host, opening: Opening, empty_fetches: list[None]
) -> None:
    organization_id, through, pending, after = await followed(host, opening, empty_fetches)

    first = min(await told_at(host, organization_id))
    assert pending.value == 2
    assert isinstance(through.value, datetime) and through.value <= first
    assert after > first


@pytest.mark.usefixtures("clean")
async def test_a_planted_consumer_that_skips_what_it_holds_is_found(
    host: Host,
    opening: Opening,
    empty_fetches: list[None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Lanes, "oldest", lambda self: None)

    organization_id, through, _, _ = await followed(host, opening, empty_fetches)

    first = min(await told_at(host, organization_id))
    assert isinstance(through.value, datetime) and through.value > first


@pytest.mark.usefixtures("clean")
async def test_a_consumer_that_nobody_leads_is_unknown(host: Host) -> None:
    domain = hearing(asyncio.Event())
    await figures.write(host, PROBE)

    found = await current(host, domain)

    assert found["consumers.probe.through"].value is None
    assert found["consumers.probe.pending"].value is None
    assert found["outbox.waiting"].value == 0
