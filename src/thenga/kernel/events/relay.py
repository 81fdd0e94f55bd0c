"""The relay: one leader a domain carries its outbox into its stream, in order and without gaps."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import asyncpg
import orjson
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import Header, PubAck
from nats.js.errors import NotFoundError

from thenga.kernel.db.idempotency import KEPT
from thenga.kernel.events import mesh
from thenga.kernel.events.leadership import Lead, Seat, keep, lead, paused
from thenga.kernel.events.outbox import Outbox
from thenga.kernel.process.host import Host

BATCH = 500
_SHORTEST, _LONGEST = 0.02, 0.25  # pauses between looks at an outbox with nothing in it
_SILENCE_SECONDS = 5.0
_LOOK_SECONDS = 5.0  # how often an idle relay looks whether the stream is still the same
_PURGE_SECONDS = 600.0

log = structlog.get_logger()


class Interrupted(ConnectionError):
    """Not everything was acknowledged; what was not is sent again, in order."""


@dataclass
class _Answers:
    """What the stream answers to the messages of one relay, on an inbox of its own.

    Not nats-py's own: that one raises a refusal where only the whole connection can see it.
    """

    inbox: str
    refused: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: dict[str, asyncio.Future[PubAck]] = field(default_factory=dict)
    count: int = 0

    def begin(self) -> None:
        """What comes for messages sent before is not waited for any more."""
        self.waiting.clear()
        self.refused.clear()

    def expect(self) -> str:
        """Where the next message is to be answered."""
        self.count += 1
        reply = f"{self.inbox}.{self.count}"
        self.waiting[reply] = asyncio.get_running_loop().create_future()
        return reply

    async def take(self, message: Msg) -> None:
        expected = self.waiting.get(message.subject)
        if expected is None or expected.done():
            return
        answer = orjson.loads(message.data or b'{"error": {}}')  # nobody has the subject
        if "error" in answer:
            self.refused.set()
        else:
            expected.set_result(PubAck.from_response(answer))


@dataclass
class _Line:
    """One connection, and what the stream is known to hold while it lasts."""

    client: Client
    js: JetStreamContext
    answers: _Answers
    epoch: str
    last: int
    window: int = BATCH  # messages sent before the first is acknowledged


class Relay:
    """Publishes the events of one domain.

    Every message names the place it must get (`Nats-Expected-Last-Sequence`). If one is refused or
    lost, all behind it are refused, too, and so is everything that a relay sends which does not
    know that it leads no more: order holds without waiting for each acknowledgement.
    """

    def __init__(self, host: Host, domain: str, *, link: mesh.Link | None = None) -> None:
        self._host = host
        self._domain = domain
        self._is_shared = link is not None
        self._link = link or mesh.Link(host.settings, domain)
        self._stream = mesh.stream_name(domain)
        self._outbox = Outbox(domain)
        self.published = 0  # acknowledged by the stream since this was made

    async def run(self, stop: asyncio.Event) -> None:
        """Until stopped; whatever fails is begun again."""
        seat = Seat(self._host, self._domain)
        name = f"relay {self._domain}"
        try:
            await keep(name, lambda: lead(seat, name, self._carry, stop), stop)
        finally:
            await seat.close()
            if not self._is_shared:
                await self._link.close()

    async def _carry(self, held: Lead, stop: asyncio.Event) -> None:
        client = await self._link.client()
        answers = _Answers(client.new_inbox())
        listening = await client.subscribe(f"{answers.inbox}.*", cb=answers.take)
        try:
            line = await self._begin(client, answers, held)
            await self._go_on(line, held, stop)
        finally:
            with suppress(NatsError, OSError):
                await listening.unsubscribe()

    async def _begin(self, client: Client, answers: _Answers, held: Lead) -> _Line:
        """Compare outbox and stream, both ways, before anything is sent (SEC-13)."""
        js = self._link.jetstream(client, self._domain, seconds=_SILENCE_SECONDS)
        info = await mesh.ensure_stream(js, self._domain, self._host.settings)
        line = _Line(client, js, answers, mesh.epoch_of(info), info.state.last_seq)
        async with held.session() as session:
            same = await self._outbox.epoch(session) == line.epoch
            known = line.last if same else 0
            if forgotten := await self._outbox.forget_after(session, known):
                log.warning("events.relay.again", domain=self._domain, events=forgotten)
            # Only now: a crash before this line begins the comparison again.
            await self._outbox.set_epoch(session, line.epoch)
            after = await self._outbox.furthest(session)
        await mesh.drop_consumers_ahead(js, self._stream, line.last)
        await self._adopt(line, held, after)
        return line

    async def _adopt(self, line: _Line, held: Lead, after: int) -> None:
        """Mark what was stored but never marked, because somebody died in between.

        At most one batch can be in that state, so the tail of the stream is all there is to read.
        """
        first = max(after, line.last - 2 * BATCH) + 1
        read = await asyncio.gather(
            *(self._event_at(line, sequence) for sequence in range(first, line.last + 1))
        )
        stored = {event_id: sequence for event_id, sequence in read if event_id is not None}
        if stored:
            await self._mark(held, stored)

    async def _event_at(self, line: _Line, sequence: int) -> tuple[UUID | None, int]:
        try:
            message = await line.js.get_msg(self._stream, sequence)
            return UUID((message.headers or {})[Header.MSG_ID]), sequence
        except (NotFoundError, KeyError, ValueError):  # expired, or not ours
            return None, sequence

    async def _go_on(self, line: _Line, held: Lead, stop: asyncio.Event) -> None:
        clock = asyncio.get_running_loop()
        pause, looked, purged = _SHORTEST, clock.time(), clock.time() - _PURGE_SECONDS
        while not stop.is_set():
            async with held.session() as session:
                rows = await self._outbox.waiting(session, BATCH)
            if rows:
                await self._send(line, held, rows)
                pause = _SHORTEST
                continue
            if clock.time() - purged >= _PURGE_SECONDS and not await self._purge(held):
                purged = clock.time()
            if clock.time() - looked >= _LOOK_SECONDS:
                await self._look(line)
                looked = clock.time()
            await paused(stop, pause)
            pause = min(pause * 1.5, _LONGEST)

    async def _send(self, line: _Line, held: Lead, rows: Sequence[asyncpg.Record]) -> None:
        """Send a batch, and remember what of it is stored; what is not stays as it was.

        A message that the stream had already gets no new place, so those behind it are refused:
        then the rest goes one by one until there are no more such.
        """
        had = False
        for start in range(0, len(rows), line.window):
            sent = rows[start : start + line.window]
            answers = await self._publish(line, sent)
            stored = _stored(sent, answers)
            if stored:
                await self._mark(held, {key: answer.seq for key, answer in stored.items()})
            new = [answer.seq for answer in stored.values() if not answer.duplicate]
            line.last = max([line.last, *new])
            had = had or len(new) < len(stored)
            if len(stored) < len(sent) and not had:
                raise Interrupted(f"{len(sent) - len(stored)} of {len(sent)} not acknowledged")
        line.window = 1 if had else BATCH

    async def _publish(
        self, line: _Line, rows: Sequence[asyncpg.Record]
    ) -> list[asyncio.Future[PubAck]]:
        answers, before = line.answers, self._link.publishing(self._domain)
        answers.begin()
        with suppress(NatsError, OSError):  # half a batch: what of it is stored must be marked
            for place, row in enumerate(rows, start=line.last):
                headers = {
                    Header.MSG_ID.value: str(row["id"]),
                    Header.EXPECTED_LAST_SEQUENCE.value: str(place),
                    "Content-Type": "application/cloudevents+json",
                }
                subject, envelope = before + row["mesh_subject"], row["envelope"].encode()
                await line.client.publish(subject, envelope, answers.expect(), headers)
        await _acknowledged(line.client, answers)
        return list(answers.waiting.values())

    async def _mark(self, held: Lead, stored: dict[UUID, int]) -> None:
        async with held.session() as session:
            await self._outbox.mark(session, stored, self._host.now())
        self.published += len(stored)

    async def _look(self, line: _Line) -> None:
        info = await line.js.stream_info(self._stream)
        if mesh.epoch_of(info) != line.epoch or info.state.last_seq != line.last:
            raise Interrupted("the stream is not what it was")

    async def _purge(self, held: Lead) -> bool:
        now, kept = self._host.now(), timedelta(days=self._host.settings.outbox_days)
        async with held.session() as session:
            return await self._outbox.purge(
                session,
                sent_before=now - kept,
                taken_before=now - 2 * kept,
                keyed_before=now - KEPT,
            )


async def _acknowledged(client: Client, answers: _Answers) -> None:
    """Wait for the answers, but not for those behind a refusal or of a server that is gone."""
    clock = asyncio.get_running_loop()
    deadline = clock.time() + _SILENCE_SECONDS
    refused = asyncio.ensure_future(answers.refused.wait())
    waiting = answers.waiting.values()
    every = asyncio.gather(*waiting, return_exceptions=True)
    try:
        while clock.time() < deadline and not client.is_closed:
            done, _ = await asyncio.wait(
                (every, refused), timeout=0.25, return_when=asyncio.FIRST_COMPLETED
            )
            if done:
                return
    finally:
        refused.cancel()
        for future in waiting:
            future.cancel()
        await asyncio.gather(every, return_exceptions=True)


def _stored(
    rows: Sequence[asyncpg.Record], answers: Sequence[asyncio.Future[PubAck]]
) -> dict[UUID, PubAck]:
    return {
        row["id"]: answer.result()
        for row, answer in zip(rows, answers, strict=False)
        if answer.done() and not answer.cancelled() and answer.exception() is None
    }
