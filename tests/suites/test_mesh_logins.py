"""The logins of NATS: who can publish and read what, tried with real connections (SEC-63)."""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

import httpx2
import nats
import orjson
import pytest
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, RePublish

from tests import meshes
from tests.settling import with_letters
from tests.suites import clocks, streams
from thenga import topology
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.events import mesh
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

T = TypeVar("T")

pytestmark = pytest.mark.rule("SEC-63")

READS = meshes.reads()
NAMES = sorted({*READS, *(source for sources in READS.values() for source in sources)})
_SECONDS = 60  # a busy server answers late; it never says nothing
PAIRS = [(login, other) for login in NAMES for other in NAMES if login != other]


class Speaker:
    """A connection as one login, and what the server refused it.

    The server answers in order: a refusal comes before the answer to a later ping.
    """

    def __init__(self, host: Host, login: str) -> None:
        self.client: Client
        self.refusals: list[str] = []
        self._host, self._login = host, login
        self._refused = asyncio.Event()

    async def __aenter__(self) -> Self:
        self.client = await streams.connected(self._host, self._login, self._note)
        return self

    async def __aexit__(self, *_: object) -> None:
        await mesh.drop(self.client)

    async def ask(self, question: Coroutine[Any, Any, T]) -> T | None:
        """The answer; None where the server refuses or has nobody for it. Silence is an error."""
        await self.catch_up()
        self._refused.clear()
        asking = asyncio.create_task(question)
        refused = asyncio.create_task(self._refused.wait())
        try:
            await asyncio.wait((asking, refused), return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        except TimeoutError:  # which is an error of NATS, too
            raise
        except NatsError:
            return None
        finally:
            asking.cancel()
            refused.cancel()

    async def catch_up(self) -> None:
        """Until the server has read all that was sent, and its answers have come."""
        for _ in range(2):  # nats-py writes its first ping before what still waits to be sent
            await self.client.flush(_SECONDS)

    async def is_refused(self, subject: str) -> bool:
        """Whether the server has refused what was sent with this subject."""
        await self.catch_up()
        return any(f'"{subject.lower()}"' in text for text in self.refusals)

    def jetstream(self, **more: Any) -> JetStreamContext:
        return self.client.jetstream(timeout=_SECONDS, **more)

    async def _note(self, error: Exception) -> None:
        self.refusals.append(str(error))
        self._refused.set()


@pytest.fixture
async def told(host: Host) -> str:
    """A stream for each domain, each with an event of a type that nobody has a reaction to."""
    mark = f"Forged{new_id().hex}"
    for name in NAMES:
        async with Speaker(host, name) as owner:
            js = owner.jetstream()
            await mesh.ensure_stream(js, name, host.settings)
            await js.publish(f"thenga.{name}.{mark}Own._", b"own")
    return mark


async def _count(host: Host, name: str, subject: str) -> int:
    async with streams.jetstream(host, name) as js:
        info = await js.stream_info(mesh.stream_name(name), subjects_filter=subject)
    return sum((info.state.subjects or {}).values())


async def _publish(speaker: Speaker, login: str, subject: str, own: str) -> bool:
    """Every way that we know to get bytes onto a subject: by oneself, or by JetStream.

    Says whether the server has refused the first.
    """
    client, js = speaker.client, speaker.jetstream()
    stream, name, pushing = mesh.stream_name(login), f"a-{new_id().hex}", f"b-{new_id().hex}"
    wide = ConsumerConfig(name=name, ack_policy=AckPolicy.NONE, filter_subject=own)
    await client.publish(subject, b"forged")
    refused = await speaker.is_refused(subject)
    if await speaker.ask(js.add_consumer(stream, wide)):
        asking = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{name}"
        await client.publish(asking, b'{"batch": 1, "no_wait": true}', reply=subject)
        # One after the other: with the answer to this one, that one has been answered, too.
        inbox = client.new_inbox()
        answers = await client.subscribe(inbox, max_msgs=1)
        await client.publish(asking, b'{"batch": 1, "no_wait": true}', reply=inbox)
        await answers.next_msg(_SECONDS)
    if await speaker.ask(js.add_consumer(stream, wide, name=pushing, deliver_subject=subject)):
        info = await js.consumer_info(stream, pushing)
        assert not info.push_bound, f"{login} reaches {subject}"
    if stands := await speaker.ask(js.stream_info(stream)):
        again = RePublish(src=own, dest=subject)
        if await speaker.ask(js.update_stream(stands.config, republish=again)):
            await js.publish(own, b"forged")
            await js.update_stream(stands.config)
    for made in (name, pushing):
        await speaker.ask(js.delete_consumer(stream, made))
    return refused


async def _all_stored(host: Host, mark: str) -> None:
    """A stream stores in order: behind these, nothing that was sent before is still on its way."""
    for name in NAMES:
        async with Speaker(host, name) as owner:
            await owner.jetstream().publish(f"thenga.{name}.{mark}Last._", b"last")


async def test_no_login_publishes_outside_its_own_subjects(host: Host, told: str) -> None:
    refused = 0
    for login in NAMES:
        async with Speaker(host, login) as speaker:
            for other in NAMES:
                if other != login:
                    subject, own = f"thenga.{other}.{told}._", f"thenga.{login}.{told}Own._"
                    refused += await _publish(speaker, login, subject, own)
    await _all_stored(host, told)

    foreign = sum([await _count(host, name, f"thenga.{name}.{told}._") for name in NAMES])
    own = sum([await _count(host, name, f"thenga.{name}.{told}Own._") >= 1 for name in NAMES])
    print(
        f"\nmesh logins={len(NAMES)} publish_matrix={len(PAIRS)} ways=4 refused={refused} "
        f"accepted_outside_own_subjects={foreign} own={own}"
    )
    assert foreign == 0
    assert refused == len(PAIRS)
    assert own == len(NAMES)


async def _read(reader: Speaker, owner: Speaker, names: tuple[str, str], subject: str) -> int:
    """How many messages of another domain come, by each way that we know."""
    login, other = names
    listening = await reader.client.subscribe(f"thenga.{other}.>")
    assert await reader.is_refused(f"thenga.{other}.>"), reader.refusals[-3:]
    await owner.client.publish(subject, b"own")
    await owner.catch_up()
    await reader.catch_up()
    found = listening.pending_msgs
    stream, name = mesh.stream_name(other), mesh.consumer_name(login, other)
    for prefix in ("$JS.API", mesh.foreign_prefix(other)):
        js = reader.jetstream(prefix=prefix)
        for consumer in (f"spy-{new_id().hex}", name):
            config = ConsumerConfig(
                name=consumer, ack_policy=AckPolicy.NONE, filter_subject=subject
            )
            if await reader.ask(js.add_consumer(stream, config)):
                reading = await js.pull_subscribe_bind(consumer, stream=stream)
                found += len(await reading.fetch(1, timeout=_SECONDS))
        found += bool(await reader.ask(js.get_msg(stream, 1)))
    return found


async def test_no_login_reads_a_domain_that_it_does_not_name(host: Host, told: str) -> None:
    named = {(reader, source) for reader, sources in READS.items() for source in sources}
    strangers = [pair for pair in PAIRS if pair not in named]
    foreign = 0
    async with AsyncExitStack() as stack:
        speakers = {name: await stack.enter_async_context(Speaker(host, name)) for name in NAMES}
        for login, other in strangers:
            subject = f"thenga.{other}.{told}Own._"
            foreign += await _read(speakers[login], speakers[other], (login, other), subject)
    tried = len(strangers)
    print(f"\nmesh read_matrix={tried} named={len(named)} read_without_being_named={foreign}")
    assert foreign == 0


async def test_a_reader_has_its_own_consumer_and_no_other(host: Host, told: str) -> None:
    tried = foreign = answered = 0
    for reader, sources in READS.items():
        async with Speaker(host, reader) as speaker:
            for source in sources:
                js = speaker.jetstream(prefix=mesh.foreign_prefix(source))
                stream = mesh.stream_name(source)
                answered += bool(await speaker.ask(js.stream_info(stream)))
                for name in (f"spy-{new_id().hex}", mesh.consumer_name("nobody", source)):
                    tried += 1
                    config = ConsumerConfig(name=name)
                    foreign += bool(await speaker.ask(js.add_consumer(stream, config)))
                tried += 1
                foreign += bool(await speaker.ask(js.get_msg(stream, 1)))
    named = sum(len(sources) for sources in READS.values())
    print(f"\nmesh named={answered} consumers_tried={tried} foreign_consumers={foreign}")
    assert (answered, foreign) == (named, 0)


async def test_a_worker_publishes_for_a_domain_only_under_its_prefix(host: Host, told: str) -> None:
    """What a wrong row in an outbox could name: another domain's subject, or a whole stream."""
    own = deleted = accepted = 0
    async with Speaker(host, mesh.WORKER) as worker:
        client = worker.client
        for login, other in PAIRS:
            subject = f"thenga.{other}.{told}._"
            for wrong in (subject, f"{mesh.publishing_prefix(login)}.{subject}"):
                asking = client.request(wrong, b"forged", timeout=_SECONDS)
                accepted += await worker.ask(asking) is not None
        for name in NAMES:
            subject = f"{mesh.publishing_prefix(name)}.thenga.{name}.{told}Worker._"
            answer = await client.request(subject, b"own", timeout=_SECONDS)
            own += "seq" in orjson.loads(answer.data)
            js = worker.jetstream(prefix=mesh.foreign_prefix(name))
            deleted += bool(await worker.ask(js.delete_stream(mesh.stream_name(name))))
    await _all_stored(host, told)
    foreign = sum([await _count(host, name, f"thenga.{name}.{told}._") for name in NAMES])

    print(f"\nmesh worker own={own} accepted={accepted} foreign={foreign} deleted={deleted}")
    assert (own, accepted, foreign, deleted) == (len(NAMES), 0, 0, 0)


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
        async with Speaker(host, "organization") as owner:
            js = owner.jetstream()
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
