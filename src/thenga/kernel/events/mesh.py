"""The mesh: connections to NATS, one stream a domain, and consumers that begin where they ended.

A client that reconnects by itself sends its buffer again and could swap events, so ours never
does: after it fails another one is opened, and the work begins again from the database.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    ConsumerInfo,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
    StreamInfo,
)
from nats.js.errors import NotFoundError

from thenga.kernel.process import secret_settings
from thenga.kernel.process.settings import Settings

WORKER = "worker"  # the login of a process that runs several domains; see `accounts.py`
OLDEST_SERVER = (2, 12)  # older ones drop fields that they do not know without a word
MOST_PENDING = 2000  # messages a consumer may hold unacknowledged
ACK_SECONDS = 300.0  # long, because a new leader does not wait for it: see `begin_consumer`
_CONNECT_SECONDS = 5.0
_DUPLICATE_WINDOW = timedelta(minutes=2)

log = structlog.get_logger()


class MeshRefused(RuntimeError):
    """The server is too old, or did not do what it was asked and said nothing."""


async def connect(
    settings: Settings,
    login: str,
    on_error: Callable[[Exception], Awaitable[None]] | None = None,
) -> Client:
    """A connection as a domain's own login, which fails soon and never comes back by itself."""
    client = Client()
    template = settings.of_domain("nats", login) or settings.nats
    address = secret_settings.address(template, settings.nats_secret, login)
    try:
        # A dead server would otherwise be tried for two minutes.
        async with asyncio.timeout(_CONNECT_SECONDS):
            await client.connect(
                address,
                error_cb=on_error or note_error,
                allow_reconnect=False,
                connect_timeout=2,
                ping_interval=5,
                max_outstanding_pings=2,
            )
    except (TimeoutError, NatsError, OSError) as error:
        await drop(client)
        raise ConnectionError("the mesh does not answer") from error
    version = client.connected_server_version
    if (version.major, version.minor) < OLDEST_SERVER:
        await drop(client)
        raise MeshRefused(f"nats-server {version} is too old; it must be 2.12 or newer")
    return client


async def drop(client: Client) -> None:
    """Close, whatever state it is in."""
    with suppress(NatsError, OSError, TimeoutError):
        await asyncio.wait_for(client.close(), 2)


class Link:
    """A connection that the runners of a process share; one that has died is replaced.

    It is made with a domain's own login, or with the one login of a worker for all its domains.
    """

    def __init__(self, settings: Settings, login: str) -> None:
        self._settings = settings
        self._login = login
        self._opening: asyncio.Task[Client] | None = None

    async def client(self) -> Client:
        """The open one, or a new one; all who wait for it hear the same failure."""
        opening = self._opening
        if opening is None or _has_failed(opening):
            opening = asyncio.create_task(connect(self._settings, self._login))
            self._opening = opening
        return await asyncio.shield(opening)

    def jetstream(self, client: Client, domain: str, *, seconds: float = 5.0) -> JetStreamContext:
        """The stream of a domain, as this login reaches it."""
        if self._login == domain:
            return client.jetstream(timeout=seconds)
        return client.jetstream(prefix=foreign_prefix(domain), timeout=seconds)

    def publishing(self, domain: str) -> str:
        """What stands before the subject of an event of this domain."""
        return "" if self._login == domain else f"{publishing_prefix(domain)}."

    async def close(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None:
            with suppress(ConnectionError, MeshRefused):
                await drop(await opening)


def _has_failed(opening: asyncio.Task[Client]) -> bool:
    if not opening.done():
        return False
    return opening.exception() is not None or not opening.result().is_connected


def login_of(domain: str, domains: Sequence[str], settings: Settings) -> str:
    """The login of a domain in a process that runs these: its own, or that of workers.

    Where an operator gives the domain an address of its own, that is used.
    """
    derived = [name for name in domains if not settings.of_domain("nats", name)]
    return WORKER if domain in derived and len(derived) > 1 else domain


async def note_error(error: Exception) -> None:
    log.warning("events.mesh.error", cause=type(error).__name__)


def stream_name(domain: str) -> str:
    return f"THENGA_{domain.upper()}"


def consumer_name(domain: str, source: str) -> str:
    return f"{domain}-from-{source}"


def foreign_prefix(source: str) -> str:
    """Where another domain's stream is asked, in place of `$JS.API`; see `accounts.py`."""
    return f"thenga-from.{source}"


def publishing_prefix(domain: str) -> str:
    """Where a worker publishes for a domain; see `accounts.py`."""
    return f"thenga-to.{domain}"


def epoch_of(info: StreamInfo) -> str:
    """What tells a stream from another that later had its name."""
    return info.created.isoformat() if info.created else ""


async def ensure_stream(js: JetStreamContext, domain: str, settings: Settings) -> StreamInfo:
    """The stream of a domain as we want it, or a refusal to run."""
    wanted = StreamConfig(
        name=stream_name(domain),
        subjects=[f"thenga.{domain}.>"],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        duplicate_window=_DUPLICATE_WINDOW.total_seconds(),
        max_age=timedelta(days=settings.outbox_days + 1).total_seconds(),
        num_replicas=1,
    )
    try:
        info = await js.stream_info(stream_name(domain))
    except NotFoundError:
        info = await js.add_stream(wanted)
    if _differences(wanted, info.config, _STREAM_FIELDS):
        info = await js.update_stream(wanted)
    if differing := _differences(wanted, info.config, _STREAM_FIELDS):
        raise MeshRefused(f"{stream_name(domain)} was not made as asked: {', '.join(differing)}")
    return info


async def begin_consumer(
    js: JetStreamContext, stream: StreamInfo, name: str, subjects: Iterable[str]
) -> ConsumerInfo:
    """A durable consumer, made anew behind the last message before which all is acknowledged.

    One that is taken over as it was would deliver new messages at once and those that its last
    reader left unacknowledged only later, which swaps events of one aggregate. Made anew it
    delivers all of them in order; the inbox knows which are done.
    """
    stream_title = str(stream.config.name)
    start = 1
    with suppress(NotFoundError):
        left = await js.consumer_info(stream_title, name)
        floor = left.ack_floor.stream_seq if left.ack_floor else 0
        start = floor + 1 if floor <= stream.state.last_seq else 1
        await js.delete_consumer(stream_title, name)
    wanted = ConsumerConfig(
        name=name,
        durable_name=name,
        filter_subjects=sorted(subjects),
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=start,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_SECONDS,
        max_deliver=-1,
        max_ack_pending=MOST_PENDING,
    )
    info = await js.add_consumer(stream_title, wanted)
    if differing := _differences(wanted, info.config, _CONSUMER_FIELDS):
        raise MeshRefused(f"{name} was not made as asked: {', '.join(differing)}")
    return info


async def drop_consumers_ahead(js: JetStreamContext, stream: str, last: int) -> int:
    """Forget consumers that have read further than the stream now reaches.

    They would skip what is published again under the numbers they have had.
    """
    dropped = 0
    for info in await js.consumers_info(stream):
        if info.delivered is not None and info.delivered.stream_seq > last:
            await js.delete_consumer(stream, info.name)
            dropped += 1
    return dropped


_STREAM_FIELDS = (
    *("name", "subjects", "retention", "storage", "discard"),
    *("duplicate_window", "max_age", "num_replicas"),
)
_CONSUMER_FIELDS = (
    *("name", "durable_name", "filter_subjects", "deliver_policy", "opt_start_seq"),
    *("ack_policy", "ack_wait", "max_deliver", "max_ack_pending"),
)


def _differences(
    wanted: StreamConfig | ConsumerConfig,
    given: StreamConfig | ConsumerConfig,
    fields: Iterable[str],
) -> list[str]:
    return [name for name in fields if getattr(wanted, name) != getattr(given, name)]
