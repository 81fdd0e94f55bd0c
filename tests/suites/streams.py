"""What stands in a domain's stream, and whether the mesh has come to rest."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple
from uuid import UUID

import orjson
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig
from nats.js.errors import NotFoundError

from thenga import topology
from thenga.kernel.events import mesh
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


class Told(NamedTuple):
    """One event as it stands in a stream."""

    id: UUID
    type: str
    aggregate: str
    sequence: int


@asynccontextmanager
async def jetstream(host: Host, domain: str) -> AsyncIterator[JetStreamContext]:
    """What the login of a domain may do with its own stream, which is everything."""
    client = await connected(host, domain)
    try:
        yield client.jetstream()
    finally:
        await mesh.drop(client)


async def connected(
    host: Host, login: str, on_error: Callable[[Exception], Awaitable[None]] | None = None
) -> Client:
    """Tried again as relays do: NATS drops whoever is two seconds late with their password."""
    for _ in range(9):
        try:
            return await mesh.connect(host.settings, login, on_error)
        except ConnectionError:
            await asyncio.sleep(0.5)
    return await mesh.connect(host.settings, login, on_error)


async def purge(host: Host) -> None:
    """Empty the streams: a worker with all domains would first read what many tests have told."""
    for domain in topology.DOMAINS:
        async with jetstream(host, domain) as js:
            with suppress(NotFoundError):  # nobody has told anything yet
                await js.purge_stream(mesh.stream_name(domain))


async def told(host: Host, domain: str, organization_id: UUID | None = None) -> list[Told]:
    """The events of a domain, of all organizations or of one, in the order of the stream."""
    found: list[Told] = []
    stream, name = mesh.stream_name(domain), f"look-{new_id()}"
    subject = f"thenga.{domain}.*.{organization_id or '*'}"
    async with jetstream(host, domain) as js:
        await js.add_consumer(
            stream,
            ConsumerConfig(name=name, filter_subject=subject, ack_policy=AckPolicy.NONE),
        )
        reading = await js.pull_subscribe_bind(name, stream=stream)
        waiting = (await js.consumer_info(stream, name)).num_pending or 0
        while len(found) < waiting:
            for message in await reading.fetch(500, timeout=60):
                body = orjson.loads(message.data)
                event = (UUID(body["id"]), body["type"], body["subject"], body["sequence"])
                found.append(Told(*event))
        await js.delete_consumer(stream, name)
    return found


def inversions(events: Iterable[Told]) -> int:
    """How often a version comes behind a newer one of its aggregate; repeats do not count."""
    newest: dict[str, int] = defaultdict(int)
    seen: set[UUID] = set()
    swapped = 0
    for event in events:
        swapped += event.id not in seen and event.sequence < newest[event.aggregate]
        newest[event.aggregate] = max(newest[event.aggregate], event.sequence)
        seen.add(event.id)
    return swapped


async def is_carried(host: Host, domain: str) -> bool:
    """Whether the stream holds all that the outbox says it does, and nothing waits."""
    async with host.engines.connection(domain, f"{domain}_system") as connection:
        waiting = await connection.fetchval(
            f"SELECT count(*) FROM {domain}.outbox WHERE published_at IS NULL"
        )
        furthest = await connection.fetchval(
            f"SELECT coalesce(max(stream_sequence), 0) FROM {domain}.outbox"
        )
    async with jetstream(host, domain) as js:
        try:
            info = await js.stream_info(mesh.stream_name(domain))
        except NotFoundError:
            return False
    return bool(waiting == 0 and furthest <= info.state.last_seq)


async def is_consumed(host: Host, consumer: str) -> bool:
    """Whether a consumer, named `<domain>-from-<source>`, has acknowledged its whole stream."""
    source = consumer.rpartition("-")[2]
    stream = mesh.stream_name(source)
    async with jetstream(host, source) as js:
        try:
            info = await js.consumer_info(stream, consumer)
        except NotFoundError:
            return False
    return not info.num_pending and not info.num_ack_pending


async def came(look: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    """Whether something comes to be in time; servers may be away meanwhile."""
    loop = asyncio.get_running_loop()
    over = loop.time() + seconds
    while loop.time() < over:
        try:
            if await look():
                return True
        except (OSError, NatsError, TimeoutError):
            pass
        await asyncio.sleep(0.1)
    return False
