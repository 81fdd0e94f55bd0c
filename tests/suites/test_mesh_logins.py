"""The logins of NATS: who can publish and read what, tried with real connections (rule 63)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from uuid import UUID, uuid4

import httpx2
import nats
import orjson
import pytest
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, RePublish

from tests import meshes
from tests.settling import with_letters
from tests.suites import clocks, streams
from thenga import topology
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.events import mesh
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.host import Host
from thenga.kernel.values.ids import new_id

pytestmark = pytest.mark.rule("SEC-63")

READS = meshes.reads()
NAMES = sorted({*READS, *(source for sources in READS.values() for source in sources)})
PAIRS = [(login, other) for login in NAMES for other in NAMES if login != other]


@asynccontextmanager
async def connected(host: Host, login: str) -> AsyncIterator[Client]:
    async def note(_: Exception) -> None:
        """A refusal is told here and nowhere else; what was stored is counted."""

    client = await streams.connected(host, login, note)
    try:
        yield client
    finally:
        await mesh.drop(client)


@pytest.fixture
async def told(host: Host) -> str:
    """A stream for each domain, each with an event of a type that nobody has a reaction to."""
    mark = f"Forged{new_id().hex}"
    for name in NAMES:
        async with connected(host, name) as client:
            js = client.jetstream(timeout=30)
            await mesh.ensure_stream(js, name, host.settings)
            await js.publish(f"thenga.{name}.{mark}Own._", b"own")
    return mark


async def _count(host: Host, name: str, subject: str) -> int:
    async with streams.jetstream(host, name) as js:
        info = await js.stream_info(mesh.stream_name(name), subjects_filter=subject)
    return sum((info.state.subjects or {}).values())


async def _publish(client: Client, login: str, subject: str, own: str) -> None:
    """Every way that we know to get bytes onto a subject: by oneself, or by JetStream."""
    await client.publish(subject, b"forged")
    js = client.jetstream(timeout=0.5)
    stream, name, pushing = mesh.stream_name(login), f"a-{new_id().hex}", f"b-{new_id().hex}"
    wide = ConsumerConfig(name=name, ack_policy=AckPolicy.NONE, filter_subject=own)
    with suppress(NatsError, TimeoutError):
        await js.add_consumer(stream, wide)
        asking = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{name}"
        await client.publish(asking, b'{"batch": 1, "no_wait": true}', reply=subject)
        await client.flush()
    with suppress(NatsError, TimeoutError):
        await js.add_consumer(stream, wide, name=pushing, deliver_subject=subject)
    with suppress(NatsError, TimeoutError):
        info = await js.stream_info(stream)
        again = RePublish(src=own, dest=subject)
        await js.update_stream(info.config, republish=again)
        await js.publish(own, b"forged")
        await js.update_stream(info.config)
    for made in (name, pushing):
        with suppress(NatsError, TimeoutError):
            await js.delete_consumer(stream, made)


async def test_no_login_publishes_outside_its_own_subjects(host: Host, told: str) -> None:
    for login, other in PAIRS:
        async with connected(host, login) as client:
            await _publish(client, login, f"thenga.{other}.{told}._", f"thenga.{login}.{told}Own._")
    await asyncio.sleep(0.5)

    foreign = sum([await _count(host, name, f"thenga.{name}.{told}._") for name in NAMES])
    own = sum([await _count(host, name, f"thenga.{name}.{told}Own._") >= 1 for name in NAMES])
    print(
        f"\nmesh logins={len(NAMES)} publish_matrix={len(PAIRS)} ways=4 "
        f"accepted_outside_own_subjects={foreign} own={own}"
    )
    assert foreign == 0
    assert own == len(NAMES)


async def _read(client: Client, login: str, other: str, subject: str) -> int:
    """How many messages of another domain come, by each way that we know."""
    listening = None
    with suppress(NatsError):
        listening = await client.subscribe(f"thenga.{other}.>")
    stream, found = mesh.stream_name(other), 0
    name = mesh.consumer_name(login, other)
    for prefix in ("$JS.API", mesh.foreign_prefix(other)):
        js = client.jetstream(prefix=prefix, timeout=0.5)
        for consumer in (f"spy-{new_id().hex}", name):
            with suppress(NatsError, TimeoutError):
                config = ConsumerConfig(
                    name=consumer, ack_policy=AckPolicy.NONE, filter_subject=subject
                )
                await js.add_consumer(stream, config)
                reading = await js.pull_subscribe_bind(consumer, stream=stream)
                found += len(await reading.fetch(1, timeout=0.5))
        with suppress(NatsError, TimeoutError):
            found += bool(await js.get_msg(stream, 1))
    if listening is not None:
        found += listening.pending_msgs
    return found


async def test_no_login_reads_a_domain_that_it_does_not_name(host: Host, told: str) -> None:
    named = {(reader, source) for reader, sources in READS.items() for source in sources}

    async def read(login: str, other: str) -> int:
        async with connected(host, login) as client, connected(host, other) as owner:
            reading = asyncio.create_task(
                _read(client, login, other, f"thenga.{other}.{told}Own._")
            )
            await owner.publish(f"thenga.{other}.{told}Own._", b"own")
            return await reading

    # Together, because each refusal is a silence that is waited for.
    strangers = [pair for pair in PAIRS if pair not in named]
    foreign = sum(await asyncio.gather(*(read(*pair) for pair in strangers)))
    tried = len(strangers)
    print(f"\nmesh read_matrix={tried} named={len(named)} read_without_being_named={foreign}")
    assert foreign == 0


async def test_a_reader_has_its_own_consumer_and_no_other(host: Host, told: str) -> None:
    tried = foreign = 0
    for reader, sources in READS.items():
        for source in sources:
            async with connected(host, reader) as client:
                js = client.jetstream(prefix=mesh.foreign_prefix(source), timeout=0.5)
                stream = mesh.stream_name(source)
                for name in (f"spy-{new_id().hex}", mesh.consumer_name("nobody", source)):
                    tried += 1
                    with suppress(NatsError, TimeoutError):
                        await js.add_consumer(stream, ConsumerConfig(name=name))
                        foreign += 1
                with suppress(NatsError, TimeoutError):
                    tried += 1
                    await js.get_msg(stream, 1)
                    foreign += 1
    print(f"\nmesh consumers_tried={tried} foreign_consumers={foreign}")
    assert foreign == 0


async def test_a_worker_publishes_for_a_domain_only_under_its_prefix(host: Host, told: str) -> None:
    """What a wrong row in an outbox could name: another domain's subject, or a whole stream."""
    async with connected(host, mesh.WORKER) as client:
        for login, other in PAIRS:
            subject = f"thenga.{other}.{told}._"
            for wrong in (subject, f"{mesh.publishing_prefix(login)}.{subject}"):
                await client.publish(wrong, b"forged", reply=client.new_inbox())
        own = 0
        for name in NAMES:
            subject = f"{mesh.publishing_prefix(name)}.thenga.{name}.{told}Worker._"
            answer = await client.request(subject, b"own", timeout=30)
            own += "seq" in orjson.loads(answer.data)
        deleted = 0
        for name in NAMES:
            js = client.jetstream(prefix=mesh.foreign_prefix(name), timeout=0.5)
            with suppress(NatsError, TimeoutError):
                deleted += await js.delete_stream(mesh.stream_name(name))
    foreign = sum([await _count(host, name, f"thenga.{name}.{told}._") for name in NAMES])

    print(f"\nmesh worker own={own} foreign={foreign} deleted={deleted}")
    assert (own, foreign, deleted) == (len(NAMES), 0, 0)


async def test_without_a_password_nobody_is_let_in(host: Host) -> None:
    place = host.settings.nats.rpartition("@")[2]
    for address in (f"nats://{place}", f"nats://organization:wrong@{place}"):
        with pytest.raises((NatsError, OSError, TimeoutError)):
            await asyncio.wait_for(
                nats.connect(address, allow_reconnect=False, max_reconnect_attempts=0), 30
            )


def _forged(host: Host, organization_id: UUID, told_id: UUID, **changes: object) -> bytes:
    data = {"organizationId": str(told_id), "aheadSeconds": 40_000_000, "moveNumber": 9}
    envelope = {
        "specversion": "1.0",
        "id": str(uuid4()),
        "type": "organization.SandboxClockMoved.v1",
        "source": "/organization",
        "subject": f"organization/{organization_id}",
        "time": host.now().isoformat(),
        "organizationid": str(organization_id),
        "sequence": 9,
        "data": data,
    }
    return orjson.dumps(envelope | changes)


async def _forge(api: httpx2.AsyncClient, host: Host) -> tuple[list[str], int]:
    """Which clocks forged events move, sent with the login of Organization itself."""
    domains = topology.load(topology.DOMAINS)
    async with clocks.running([MeshSide(with_letters(host), domains)]):
        live = await clocks.furnish(api, host, "live")
        sandbox = await clocks.furnish(api, host, "sandbox")
        async with connected(host, "organization") as client:
            js = client.jetstream(timeout=30)
            subject = "thenga.organization.SandboxClockMoved"
            await js.publish(f"{subject}.{live.id}", _forged(host, live.id, live.id))
            # An envelope that names another organization than its subject, or than its data.
            await js.publish(f"{subject}.{sandbox.id}", _forged(host, live.id, live.id))
            await js.publish(f"{subject}.{sandbox.id}", _forged(host, sandbox.id, live.id))
            other = _forged(host, sandbox.id, sandbox.id, source="/billing")
            await js.publish(f"{subject}.{sandbox.id}", other)
        for name in topology.DOMAINS:
            consumer = mesh.consumer_name(name, "organization")
            assert await streams.came(partial(streams.is_consumed, host, consumer), 60)
        moved = [
            name
            for name in topology.DOMAINS
            for place in (live, sandbox)
            if await clock_offset(host, name, place.id) != timedelta(0)
        ]
        async with host.engines.connection("identity", "identity_system") as connection:
            ahead = await connection.fetchval(
                "SELECT count(*) FROM identity.tenant_mirror "
                "WHERE organization_id = ANY($1) AND ahead <> interval '0'",
                [live.id, sandbox.id],
            )
    return moved, ahead


async def test_a_forged_clock_moves_no_live_organization(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
    """Even with the login of Organization: only a sandbox has a clock."""
    moved, ahead = await _forge(api, host)

    print(f"\nmesh forged_events=4 clocks_moved={len(moved)} gates_moved={ahead}")
    assert (moved, ahead) == ([], 0)


async def test_a_domain_that_believes_the_envelope_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for domain in topology.load(topology.DOMAINS):
        if domain.name == "billing":
            monkeypatch.setattr(domain.reactions, "is_sandbox", None)

    moved, _ = await _forge(api, host)

    assert moved == ["billing"]


def test_every_domain_knows_which_organization_is_a_sandbox() -> None:
    for domain in topology.load(topology.DOMAINS):
        assert domain.reactions is not None
        assert domain.reactions.is_sandbox is not None, f"{domain.name} believes every clock"
