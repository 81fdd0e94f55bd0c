"""late-commit: what commits late is carried all the same, and in the order of its aggregate."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

import asyncpg
import pytest

from tests.conftest import Opening
from tests.kernel.running import make_things, running
from tests.probe import Thing, ThingChanged
from tests.suites.sizes import size
from tests.suites.streams import came, inversions, is_carried, told
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.engine import Session
from thenga.kernel.db.work import OutboxRow, Work
from thenga.kernel.declare.event import Event
from thenga.kernel.events.outbox import Outbox
from thenga.kernel.events.relay import Relay
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host

AT_ONCE = 24
THINGS = 60
ROLLED_BACK = 0.1


Wait = Callable[[], Awaitable[None]]


class LateWork(Work):
    """Waits between taking its place in the outbox and its end, which may be a rollback."""

    pause = 0.0
    until: Wait | None = None
    ends_with = "COMMIT"

    def _told(self, event: Event, organization_id: UUID | None) -> OutboxRow:
        made = super()._told(event, organization_id)
        self.event_ids = [*getattr(self, "event_ids", []), made.id]
        return made

    async def _end(self, word: str) -> None:
        if word == "COMMIT":
            await asyncio.sleep(self.pause)
            if self.until is not None:
                await self.until()
            word = self.ends_with
        await super()._end(word)


@dataclass
class Ledger:
    """What the writers know: which events there are, and which there must never be."""

    organization_id: UUID
    transactions: int = 0
    committed: set[UUID] = field(default_factory=set)
    rolled_back: set[UUID] = field(default_factory=set)


@dataclass
class Figures:
    transactions: int
    lost: int
    inversions: int
    doubled: int
    ghosts: int  # events of transactions that were rolled back
    late: int  # committed events behind whose place the stream was already
    carried: bool

    def __str__(self) -> str:
        return f"transactions={self.transactions} lost={self.lost} inversions={self.inversions}"


@pytest.fixture(scope="module")
async def wide(host: Host) -> AsyncIterator[Host]:
    """A host with a connection for each writer."""
    made = make_host(host.settings.model_copy(update={"pool_size": AT_ONCE}))
    yield made
    await made.close()


async def change_late(
    wide: Host, ledger: Ledger, thing_id: UUID, chance: random.Random, until: Wait | None = None
) -> None:
    organization_id = ledger.organization_id
    work = LateWork(
        wide,
        "probe",
        Scope(actor=SYSTEM, organization_id=organization_id),
        Origin(action="test", request_id="late", correlation_id="late"),
    )
    # Most wait a little; a few wait so long that hundreds pass them.
    work.pause = chance.uniform(0.2, 0.4) if chance.random() < 0.02 else chance.uniform(0, 0.02)
    work.until = until
    kept = ledger.committed
    if until is None and chance.random() < ROLLED_BACK:
        work.ends_with, kept = "ROLLBACK", ledger.rolled_back
    try:
        thing = await work.lock(Thing, thing_id)
        thing.amount += 1
        await work.save(thing)
        work.publish(
            ThingChanged(organization_id=organization_id, thing_id=thing_id, amount=thing.amount)
        )
        await work.finish()
    finally:
        await work.close()
    kept.update(work.event_ids)
    ledger.transactions += 1


async def write(wide: Host, ledger: Ledger, things: Sequence[UUID], count: int) -> None:
    chance = random.Random(20261115)
    left = iter(range(count))

    async def one_after_another() -> None:
        for _ in left:
            await change_late(wide, ledger, chance.choice(things), chance)

    await asyncio.gather(*(one_after_another() for _ in range(AT_ONCE)))


async def prove(wide: Host, opening: Opening, count: int, *, patience: float) -> Figures:
    """Write while the relay runs, then compare the stream with what the writers know.

    Whatever the machine does, one change commits when the relay has carried what came later.
    """
    ledger = Ledger(new_id())
    things = await make_things(opening, ledger.organization_id, THINGS)
    (overtaken_thing,) = await make_things(opening, ledger.organization_id, 1)

    async def passed() -> None:
        later = new_id()
        await make_things(opening, later, 1)
        while not await came(partial(_is_sent, wide, later), 2):  # the relay may not lead yet
            later = new_id()
            await make_things(opening, later, 1)

    async with running(Relay(wide, "probe")):
        late = change_late(wide, ledger, overtaken_thing, random.Random(1), passed)
        await asyncio.gather(late, write(wide, ledger, things, count - 1))
        carried = await came(lambda: is_carried(wide, "probe"), patience)
    events = await told(wide, "probe", ledger.organization_id)
    changes = [event.id for event in events if event.type == ThingChanged.type]
    return Figures(
        transactions=ledger.transactions,
        lost=len(ledger.committed - set(changes)),
        inversions=inversions(events),
        doubled=len(changes) - len(set(changes)),
        ghosts=len(ledger.rolled_back & set(changes)),
        late=await overtaken(wide, ledger.organization_id),
        carried=carried,
    )


async def _is_sent(host: Host, organization_id: UUID) -> bool:
    async with host.engines.connection("probe", "probe_system") as connection:
        waiting = await connection.fetchval(
            "SELECT count(*) FROM probe.outbox WHERE organization_id = $1 AND published_at IS NULL",
            organization_id,
        )
    return bool(waiting == 0)


async def overtaken(host: Host, organization_id: UUID) -> int:
    async with host.engines.connection("probe", "probe_system") as connection:
        found: int = await connection.fetchval(
            "SELECT count(*) FROM (SELECT position < max(position) OVER (ORDER BY stream_sequence)"
            " AS late FROM probe.outbox WHERE organization_id = $1 AND published_at IS NOT NULL)"
            " AS row WHERE late",
            organization_id,
        )
    return found


@pytest.mark.rule("SEC-12")
async def test_a_late_commit_is_neither_lost_nor_swapped(wide: Host, opening: Opening) -> None:
    count = size(500, 8_000)

    figures = await prove(wide, opening, count, patience=180)

    print(f"\n{figures}")
    print(f"late_commit late={figures.late} doubled={figures.doubled} ghosts={figures.ghosts}")
    assert figures.carried
    assert figures.transactions == count
    assert (figures.lost, figures.inversions, figures.doubled, figures.ghosts) == (0, 0, 0, 0)
    assert figures.late > count / 100, "nothing was late, so nothing was proved"


class FromTheLast(Outbox):
    """The planted bug: what stands behind the last place seen, instead of what is not sent."""

    last: int | None = None

    async def waiting(self, session: Session, limit: int) -> Sequence[asyncpg.Record]:
        if self.last is None:
            text = f"SELECT coalesce(max(position), 0) FROM {self._domain}.outbox"
            self.last = int(await session.fetchval(text))
        rows = await session.fetch(
            f"SELECT id, mesh_subject, envelope, position FROM {self._domain}.outbox "
            f"WHERE position > $1 ORDER BY position LIMIT $2",
            self.last,
            limit,
        )
        self.last = max([self.last, *(row["position"] for row in rows)])
        return rows


@pytest.mark.prove
async def test_a_relay_that_asks_for_what_is_behind_the_last_is_caught(
    wide: Host, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thenga.kernel.events.relay.Outbox", FromTheLast)

    figures = await prove(wide, opening, 300, patience=1)

    print(f"\nplanted: {figures}")
    assert figures.lost > 0
    # Others read this stream, too: what was left behind is carried by a right relay.
    monkeypatch.undo()
    async with running(Relay(wide, "probe")):
        assert await came(lambda: is_carried(wide, "probe"), 180)
