"""A consumer: one leader for each domain and source takes events, in order for each aggregate.

Aggregates go on side by side, each in a lane of its own. An event that fails holds up its lane and
nothing else; what comes behind it waits here in memory, unacknowledged. It is not handed back to
the server, because handed back with delays events come again in another order.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import StreamInfo
from nats.js.errors import NotFoundError
from pydantic import ValidationError

from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.reaction import Reaction
from thenga.kernel.events import mesh
from thenga.kernel.events.delivery import Stopped, Taking
from thenga.kernel.events.leadership import Lead, Seat, keep, lead, paused
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import made_at

FETCH = 200
AT_ONCE = 8  # aggregates
_MOST_HELD = mesh.MOST_PENDING - FETCH
_WAIT_SECONDS = 10.0  # of one request; what comes meanwhile is delivered at once
_ROOM_SECONDS = 0.05
_SOONEST, _LATEST = 0.1, 5.0  # pauses before asking again whether a source has its stream

log = structlog.get_logger()


@dataclass(slots=True)
class _Held:
    """One message that is not yet acknowledged."""

    message: Msg
    envelope: Envelope
    place: int


@dataclass(frozen=True, slots=True)
class Position:
    """How far a consumer has come: all events before `through` have had their effect.

    Nothing is said of events that wait in the outbox of `source`; its own figures tell of those.
    """

    domain: str
    source: str
    through: datetime | None  # None until it has caught up once, or has an event in hand
    pending: int


class Consumer:
    """Takes what `source` tells and `domain` reacts to."""

    def __init__(
        self,
        host: Host,
        domain: str,
        source: str,
        reactions: Sequence[Reaction],
        *,
        seat: Seat,
        link: mesh.Link,
    ) -> None:
        self.name = mesh.consumer_name(domain, source)
        self._host = host
        self._domain = domain
        self._source = source
        self._seat = seat
        self._link = link
        self._reactions: dict[str, list[Reaction]] = {}
        for reaction in reactions:
            self._reactions.setdefault(reaction.event_type, []).append(reaction)
        self._subjects = {reaction.mesh_subject for reaction in reactions}
        self._names = [reaction.name for reaction in reactions]
        self._taking = Taking(host, domain)
        self._lanes: Lanes | None = None  # while this process leads and hears the mesh
        self._undelivered = 0
        self._caught_up_at: datetime | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Until stopped; whatever fails is begun again."""
        name = f"consumer {self.name}"
        await keep(name, lambda: lead(self._seat, name, self._follow, stop), stop)

    def position(self) -> Position | None:
        """How far it has come; None where another process leads or the mesh is away."""
        if self._lanes is None:
            return None
        through = self._lanes.oldest() or self._caught_up_at
        pending = self._lanes.count + self._undelivered
        return Position(self._domain, self._source, through, pending)

    async def _follow(self, held: Lead, stop: asyncio.Event) -> None:
        lanes = Lanes(self._taking, self._reactions, stop)
        fetching = await self._begin(await self._link.client(), stop)
        if fetching is None:
            return
        ends = [asyncio.create_task(each.wait()) for each in (stop, lanes.broken)]
        try:
            self._caught_up_at = None
            while not stop.is_set():
                lanes.check()
                if lanes.count > _MOST_HELD:
                    await asyncio.sleep(_ROOM_SECONDS)
                    continue
                began = self._host.now()
                messages = await _fetch(fetching, ends)
                if messages:
                    await self._sort(messages, lanes)
                # Behind the last message the server counts what it has not delivered yet.
                self._undelivered = messages[-1].metadata.num_pending if messages else 0
                if not self._undelivered:
                    last = messages[-1].metadata.timestamp if messages else began
                    self._caught_up_at = max(began, last)
                self._lanes = lanes  # from now on it knows where it stands
            await lanes.finish(self._host.settings.drain_seconds / 2)
        finally:
            self._lanes = None
            for end in ends:
                end.cancel()
            await lanes.cancel()
            with suppress(NatsError, OSError):
                await fetching.unsubscribe()

    async def _begin(
        self, client: Client, stop: asyncio.Event
    ) -> JetStreamContext.PullSubscription | None:
        """None where it was stopped before the source had a stream."""
        js = self._link.jetstream(client, self._source)
        stream: StreamInfo | None
        if self._source == self._domain:
            stream = await mesh.ensure_stream(js, self._source, self._host.settings)
        else:
            stream = await self._await_stream(js, stop)
        if stream is None:
            return None
        await mesh.begin_consumer(js, stream, self.name, self._subjects)
        return await js.pull_subscribe_bind(self.name, stream=mesh.stream_name(self._source))

    async def _await_stream(self, js: JetStreamContext, stop: asyncio.Event) -> StreamInfo | None:
        """A stream is made by its own domain alone, which may not have started yet."""
        pause = _SOONEST
        while not stop.is_set():
            with suppress(NotFoundError):
                return await js.stream_info(mesh.stream_name(self._source))
            await paused(stop, pause)
            pause = min(2 * pause, _LATEST)
        return None

    async def _sort(self, messages: Sequence[Msg], lanes: "Lanes") -> None:
        """Acknowledge what is done already, and put the rest into its lanes."""
        read = [(message, self._read(message)) for message in messages]
        known = [envelope.id for _, envelope in read if envelope is not None]
        done = await self._taking.done_already(self._names, known)
        for message, envelope in read:
            if envelope is None or all(
                (reaction.name, envelope.id) in done for reaction in self._reactions[envelope.type]
            ):
                await message.ack()
            else:
                lanes.put(_Held(message, envelope, message.metadata.sequence.stream))

    def _read(self, message: Msg) -> Envelope | None:
        try:
            envelope = Envelope.model_validate_json(message.data)
        except ValidationError as error:
            log.error("events.message.unreadable", subject=message.subject, exc_info=error)
            return None
        if envelope.type not in self._reactions:
            log.warning("events.type.unknown", consumer=self.name, event_type=envelope.type)
            return None
        if not is_of(envelope, self._source, message.subject):
            log.error("events.message.contradicts", consumer=self.name, subject=message.subject)
            return None
        return envelope


def is_of(envelope: Envelope, source: str, subject: str) -> bool:
    """Whether the envelope says what the subject and the stream say (SEC-63)."""
    organization_id = envelope.organizationid
    told = envelope.data.get("organizationId")
    wanted = f"thenga.{source}.{envelope.type.split('.')[1]}.{organization_id or '_'}"
    return (
        envelope.source == f"/{source}"
        and subject == wanted
        and (organization_id is None or told is None or str(told) == str(organization_id))
    )


class Lanes:
    """The events held now: one lane an aggregate, strictly in order within it."""

    def __init__(
        self, taking: Taking, reactions: dict[str, list[Reaction]], stop: asyncio.Event
    ) -> None:
        self._taking = taking
        self._reactions = reactions
        self._stop = stop
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._waiting: dict[str, deque[_Held]] = {}
        self._places: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None
        self.broken = asyncio.Event()

    @property
    def count(self) -> int:
        return len(self._places)

    def oldest(self) -> datetime | None:
        """When the oldest event held now was told."""
        # A sandbox's own time runs ahead; the identifier has the time of the process.
        first = (lane[0].envelope for lane in self._waiting.values() if lane)
        return min((min(one.time, made_at(one.id)) for one in first), default=None)

    def put(self, held: _Held) -> None:
        if held.place in self._places:
            return  # delivered again while it waits here
        self._places.add(held.place)
        aggregate = held.envelope.subject
        lane = self._waiting.get(aggregate)
        if lane is not None:
            lane.append(held)
            return
        self._waiting[aggregate] = deque([held])
        task = asyncio.create_task(self._go(aggregate))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def check(self) -> None:
        """Raise what broke a lane: everything begins again from the last acknowledgement."""
        if self.broken.is_set():
            raise ConnectionError("a lane broke") from self._error

    async def finish(self, seconds: float) -> None:
        """Let the reactions that run come to their end."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    async def cancel(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _go(self, aggregate: str) -> None:
        lane = self._waiting[aggregate]
        while lane:
            held = lane[0]
            text = held.message.data.decode()
            for reaction in self._reactions[held.envelope.type]:
                await self._taking.settle(reaction, held.envelope, text, self._slots, self._stop)
            await held.message.ack()
            lane.popleft()
            self._places.discard(held.place)
        del self._waiting[aggregate]

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, Stopped):
            self._error = error
            self.broken.set()


async def _fetch(
    fetching: JetStreamContext.PullSubscription, ends: Sequence[asyncio.Task[Any]]
) -> list[Msg]:
    """What came, or nothing where it is over before anything comes."""
    asking = asyncio.ensure_future(fetching.fetch(FETCH, timeout=_WAIT_SECONDS))
    try:
        await asyncio.wait((asking, *ends), return_when=asyncio.FIRST_COMPLETED)
        if not asking.done():
            return []
        if asking.cancelled():  # by nats-py, when its connection closes
            raise ConnectionError("the mesh is gone")
        return asking.result()
    except TimeoutError:
        return []
    finally:
        asking.cancel()
