import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from signal import SIGKILL
from typing import Any
from uuid import UUID

import orjson
import pytest
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StorageType, StreamConfig

from tests.conftest import Opening
from tests.kernel.running import change_thing, make_things, running, until
from tests.probe import Thing, ThingChanged, ThingMade
from tests.suites import streams
from tests.suites.sizes import size
from thenga.kernel.db.engine import Session
from thenga.kernel.events import mesh
from thenga.kernel.events.accounts import TOOLS
from thenga.kernel.events.outbox import Outbox
from thenga.kernel.events.relay import BATCH, Relay
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.tooling.dev import servers

STREAM = "THENGA_PROBE"


@asynccontextmanager
async def jetstream(host: Host, login: str = "probe") -> AsyncIterator[JetStreamContext]:
    client = await streams.connected(host, login)
    try:
        yield client.jetstream()
    finally:
        await mesh.drop(client)


async def waiting(host: Host) -> int:
    async with host.engines.connection("probe", "probe_system") as connection:
        return int(
            await connection.fetchval(
                "SELECT count(*) FROM probe.outbox WHERE published_at IS NULL"
            )
        )


async def all_sent(host: Host) -> bool:
    return await waiting(host) == 0


async def told(host: Host, organization_id: UUID) -> list[tuple[UUID, str, int]]:
    """Event id, aggregate and version of what the stream holds for an organization, in order."""
    return [
        (e.id, e.aggregate, e.sequence) for e in await streams.told(host, "probe", organization_id)
    ]


def inversions(events: list[tuple[UUID, str, int]]) -> int:
    newest: dict[str, int] = defaultdict(int)
    swapped = 0
    for _, aggregate, version in events:
        swapped += version < newest[aggregate]
        newest[aggregate] = max(newest[aggregate], version)
    return swapped


@pytest.mark.rule("SEC-12")
async def test_nothing_is_lost_doubled_or_swapped(host: Host, opening: Opening):
    organization_id = new_id()
    async with running(Relay(host, "probe")):
        things = await make_things(opening, organization_id, 200)
        for _ in range(4):
            for start in range(0, 200, 8):
                batch = things[start : start + 8]
                await asyncio.gather(*(change_thing(opening, organization_id, t) for t in batch))
        await until(lambda: all_sent(host))
    events = await told(host, organization_id)
    unique = len({event_id for event_id, _, _ in events})
    print(
        f"\nrelay events=1000 lost={1000 - unique} doubled={len(events) - unique} "
        f"inversions={inversions(events)}"
    )
    assert len(events) == unique == 1000
    assert inversions(events) == 0


@pytest.mark.rule("SEC-12")
async def test_a_late_commit_is_not_skipped(host: Host, opening: Opening):
    organization_id, late = new_id(), 20
    async with running(Relay(host, "probe")):
        open_work = []
        for _ in range(late // 4):  # few enough for the pool
            work = opening.work(organization_id)
            things = [
                await work.add(Thing(organization_id=organization_id, name="late"))
                for _ in range(4)
            ]
            # As `finish` does, but without the commit: the positions are taken now.
            connection = await work._open()
            for thing in things:
                made = ThingMade(organization_id=organization_id, thing_id=thing.id)
                event = work._told(made, organization_id)
                await connection.execute(
                    "INSERT INTO probe.outbox "
                    "(id, organization_id, mesh_subject, aggregate, envelope, created_at) "
                    "VALUES ($1, $2, $3, $4, $5, $6)",
                    *(event.id, organization_id, event.mesh_subject),
                    *(event.aggregate, event.envelope, event.created_at),
                )
            open_work.append(work)
        await make_things(opening, organization_id, 100)
        await until(lambda: all_sent(host))
        for work in open_work:
            await work.finish()
        await until(lambda: all_sent(host))
    events = await told(host, organization_id)
    print(f"\nlate_commit transactions={late // 4} events=120 lost={120 - len(events)}")
    assert len(events) == len({event_id for event_id, _, _ in events}) == 120


async def test_a_second_relay_waits_and_takes_over(host: Host, opening: Opening):
    organization_id = new_id()
    first, second = Relay(host, "probe"), Relay(host, "probe")
    async with running(second):
        async with running(first):
            await make_things(opening, organization_id, 100)
            await until(lambda: all_sent(host))
            assert sorted([first.published > 0, second.published > 0]) == [False, True]
        await until(lambda: _is_led(host))
        async with host.engines.connection("probe", "probe_system") as connection:
            # The session of whoever leads dies: the lock goes with it.
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'thenga probe_system session'"
            )
        await make_things(opening, organization_id, 100)
        began = time.perf_counter()
        await until(lambda: all_sent(host))
        took = time.perf_counter() - began
    events = await told(host, organization_id)
    print(f"\nsecond_relay events={len(events)} back_after_seconds={took:.2f}")
    assert len(events) == len({event_id for event_id, _, _ in events}) == 200


async def _is_led(host: Host) -> bool:
    """Whether somebody holds the lock of the relay."""
    async with host.engines.connection("probe", "probe_system") as connection:
        return bool(
            await connection.fetchval(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND "
                "(classid::bigint << 32 | objid::bigint) = hashtextextended('relay probe', 0)"
            )
        )


@pytest.mark.rule("SEC-13")
async def test_what_was_stored_but_not_marked_is_not_sent_twice(host: Host, opening: Opening):
    organization_id = new_id()
    async with running(Relay(host, "probe")):
        await make_things(opening, organization_id, 300)
        await until(lambda: all_sent(host))
    async with host.engines.connection("probe", "probe_system") as connection:
        # A relay that died after the acknowledgements and before the mark leaves this behind.
        await connection.execute(
            "UPDATE probe.outbox SET published_at = NULL, stream_sequence = NULL "
            "WHERE organization_id = $1",
            organization_id,
        )
    # Behind them something new, and the server has forgotten which messages it had.
    await make_things(opening, organization_id, 50)
    async with jetstream(host) as js:
        await js.update_stream(
            StreamConfig(name=STREAM, subjects=["thenga.probe.>"], duplicate_window=0.1)
        )
    async with running(Relay(host, "probe")):
        await until(lambda: all_sent(host))
    events = await told(host, organization_id)
    print(f"\nunmarked events=300 sent_again={len(events) - 350}")
    assert len(events) == len({event_id for event_id, _, _ in events}) == 350


@pytest.mark.rule("SEC-13")
async def test_a_stream_that_was_lost_is_filled_again(host: Host, opening: Opening):
    organization_id = new_id()
    async with running(Relay(host, "probe")):
        things = await make_things(opening, organization_id, 100)
        for thing_id in things[:20]:
            await change_thing(opening, organization_id, thing_id)
        await until(lambda: all_sent(host))
        async with jetstream(host) as js:
            await js.delete_stream(STREAM)
        began = time.perf_counter()

        async def is_back() -> bool:
            async with jetstream(host) as js:
                held = {s.config.name: s.state.messages for s in await js.streams_info()}
            return held.get(STREAM, 0) > 0 and await waiting(host) == 0

        await until(is_back)
        took = time.perf_counter() - began
    events = await told(host, organization_id)
    print(f"\nstream_deleted events=120 again={len(events)} seconds={took:.2f}")
    assert len({event_id for event_id, _, _ in events}) == len(events) == 120
    assert inversions(events) == 0


@pytest.mark.rule("SEC-13")
async def test_what_the_stream_had_after_all_is_not_stored_twice(host: Host, opening: Opening):
    """The outbox believes that the stream forgot; the server knows the messages still."""
    organization_id = new_id()
    async with running(Relay(host, "probe")):
        await make_things(opening, organization_id, 100)
        await until(lambda: all_sent(host))
    async with host.engines.connection("probe", "probe_system") as connection:
        await connection.execute(
            "UPDATE probe.outbox SET stream_sequence = stream_sequence + 1000000 "
            "WHERE id IN (SELECT id FROM probe.outbox WHERE organization_id = $1 LIMIT 40)",
            organization_id,
        )

    async def is_corrected() -> bool:
        async with host.engines.connection("probe", "probe_system") as connection:
            beyond = await connection.fetchval(
                "SELECT count(*) FROM probe.outbox "
                "WHERE organization_id = $1 AND stream_sequence > 1000000",
                organization_id,
            )
        return beyond == 0 and await all_sent(host)

    async with running(Relay(host, "probe")):
        await until(is_corrected)
    events = await told(host, organization_id)
    assert len({event_id for event_id, _, _ in events}) == 100
    print(f"\nbelieved_forgotten events=100 sent_again=40 in_stream={len(events)} lost=0")


async def test_a_killed_server_loses_nothing(host: Host, opening: Opening, home: Path):
    organization_id, kills = new_id(), 3
    async with running(Relay(host, "probe")):
        things = await make_things(opening, organization_id, 50)
        for _ in range(kills):
            changing = [
                asyncio.create_task(change_thing(opening, organization_id, thing_id))
                for thing_id in things
            ]
            await asyncio.sleep(0.05)
            await asyncio.to_thread(servers.stop, home, "nats", SIGKILL)
            await asyncio.gather(*changing)
            await asyncio.to_thread(servers.start, home, "nats")
        await until(lambda: all_sent(host))
    events = await told(host, organization_id)
    unique = len({event_id for event_id, _, _ in events})
    wanted = 50 + kills * 50
    print(
        f"\nnats_kills={kills} events={wanted} lost={wanted - unique} "
        f"doubled={len(events) - unique} inversions={inversions(events)}"
    )
    assert len(events) == unique == wanted
    assert inversions(events) == 0


async def test_old_rows_are_purged(host: Host, opening: Opening):
    await make_things(opening, new_id(), 10)
    async with running(Relay(host, "probe")):
        await until(lambda: all_sent(host))
    now, days = host.now(), timedelta(days=host.settings.outbox_days)
    session = await host.engines.session("probe", "probe_system")
    try:
        text = "UPDATE probe.outbox SET published_at = published_at - $1::interval"
        await session.execute(text, days)
        await session.execute(
            "INSERT INTO probe.inbox (consumer, event_id, at) VALUES ('old', $1, $2)",
            *(new_id(), now - 2 * days - timedelta(minutes=1)),
        )
        await session.execute(
            "INSERT INTO probe.idempotency (hash, body_mac, created_at) VALUES ($1, $1, $2)",
            *(b"old", now - timedelta(hours=25)),
        )
        while await Outbox("probe").purge(
            session,
            sent_before=now - days,
            taken_before=now - 2 * days,
            keyed_before=now - timedelta(hours=24),
        ):
            pass
        text = "SELECT count(*) FROM probe.idempotency WHERE hash = 'old'"
        assert await session.fetchval(text) == 0
        assert await session.fetchval("SELECT count(*) FROM probe.outbox") == 0
        text = "SELECT count(*) FROM probe.inbox WHERE consumer = 'old'"
        assert await session.fetchval(text) == 0
    finally:
        await session.close()


async def test_the_speed_of_the_relay(host: Host, monkeypatch: pytest.MonkeyPatch):
    count = size(2_000, 8_000)
    event = ThingChanged(organization_id=new_id(), thing_id=new_id(), amount=1)
    envelope = orjson.dumps({"data": event.model_dump(mode="json"), "pad": "x" * 500}).decode()
    bare = await _bare_speed(host, count, envelope.encode())
    async with host.engines.connection("probe", "probe_system") as connection:
        await connection.execute(
            "INSERT INTO probe.outbox (id, mesh_subject, aggregate, envelope, created_at) "
            "SELECT id, 'thenga.probe.Bench._', id::text, $2, now() FROM unnest($1::uuid[]) id",
            [new_id() for _ in range(count)],
            envelope,
        )
    relay, marked, mark = Relay(host, "probe"), [], Outbox.mark

    async def noting(outbox: Outbox, session: Session, sequences: Any, now: datetime) -> None:
        marked.append(len(sequences))
        await mark(outbox, session, sequences, now)

    monkeypatch.setattr(Outbox, "mark", noting)
    async with running(relay):
        await until(lambda: _is_true(relay.published > 0))
        before, began = relay.published, time.process_time()
        await until(lambda: all_sent(host))
        speed = (relay.published - before) / (time.process_time() - began)
    print(f"\nrelay_per_cpu_s={speed:.0f} bare_per_cpu_s={bare:.0f} share={speed / bare:.2f}")
    assert len(marked) <= sum(marked) // BATCH + 5  # a statement marks a batch, and no event
    if size(0, 1):
        assert speed > 0.3 * bare  # the goal is 0.5 on a machine with nothing else to do


async def _is_true(value: bool) -> bool:
    return value


async def _bare_speed(host: Host, count: int, payload: bytes) -> float:
    async with jetstream(host, TOOLS) as js:
        await js.add_stream(
            StreamConfig(
                name="BARE",
                subjects=["bare.>"],
                storage=StorageType.FILE,
                discard=DiscardPolicy.NEW,
            )
        )
        began = time.process_time()
        for _ in range(count // 500):
            sending = [
                await js.publish_async("bare.x", payload, headers={"Nats-Msg-Id": str(new_id())})
                for _ in range(500)
            ]
            await asyncio.gather(*sending)
        speed = count / (time.process_time() - began)
        await js.delete_stream("BARE")
    return speed
