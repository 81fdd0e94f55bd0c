"""amnesia: the broker loses its disk, whole or back to an older copy, and nothing is lost by it."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL
from uuid import UUID

import pytest

from tests.conftest import Opening
from tests.kernel.running import make_things, running, until
from tests.kernel.test_reactions import probe_side
from tests.probe import MIGRATIONS
from tests.suites.own import own_servers, settings_of
from tests.suites.sizes import size
from tests.suites.streams import came, is_carried, is_consumed
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.events.delivery import Taking
from thenga.kernel.events.outbox import Outbox
from thenga.kernel.events.relay import Relay
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host
from thenga.tooling.dev import servers

MOST_SECONDS = 60  # in full size
CONSUMER = "probe-from-probe"


@dataclass(frozen=True)
class Place:
    """Servers whose disk may be lost, and a host that uses them."""

    home: Path
    host: Host

    @property
    def disk(self) -> Path:
        return self.home / "nats"

    @property
    def copy(self) -> Path:
        return self.home / "older"


@pytest.fixture(scope="module")
def servers_alone() -> Iterator[tuple[Path, dict[str, str]]]:
    with own_servers() as (home, env):
        migrate(settings_of(env), [Migrated("probe", MIGRATIONS)])
        yield home, env


@pytest.fixture(scope="module")
async def place(servers_alone: tuple[Path, dict[str, str]]) -> AsyncIterator[Place]:
    home, env = servers_alone
    host = make_host(settings_of(env))
    yield Place(home, host)
    await host.close()


@dataclass
class Figures:
    events: int
    lost: int
    doubled: int
    seconds: float
    settled: bool

    def __str__(self) -> str:
        return f"lost={self.lost} doubled={self.doubled} seconds={self.seconds:.1f}"


# What happens to the disk while the broker is dead


async def lose_all(place: Place) -> None:
    await asyncio.to_thread(servers.stop, place.home, "nats", SIGKILL)
    shutil.rmtree(place.disk)


async def go_back(place: Place) -> None:
    await lose_all(place)
    shutil.copytree(place.copy, place.disk)


Forget = Callable[[Place], Awaitable[None]]


async def keep_copy(place: Place) -> None:
    shutil.rmtree(place.copy, ignore_errors=True)
    await asyncio.to_thread(servers.stop, place.home, "nats")
    shutil.copytree(place.disk, place.copy)
    await asyncio.to_thread(servers.start, place.home, "nats")


_LOOKS_AT_REST = 50  # a tenth of a second apart


async def all_taken(place: Place, events: int, *, patience: float = 300) -> Figures:
    """Every event had its effect; then the stream is gone while relay and consumer run."""
    organization_id = new_id()
    async with consuming(place):
        await take(place, organization_id, events)
        await lose_all(place)
        return await recover(place, organization_id, events, patience)


async def part_taken(place: Place, forget: Forget, part: int, *, patience: float = 300) -> Figures:
    """One part was taken before the copy of the disk, one after it, and one is only told."""
    organization_id = new_id()
    async with consuming(place):
        await take(place, organization_id, part)
    await keep_copy(place)
    async with consuming(place):
        await take(place, organization_id, part)
    async with running(Relay(place.host, "probe")):
        await make_things(Opening(place.host), organization_id, part)
        await until(lambda: is_carried(place.host, "probe"), 60)
        await forget(place)
    async with consuming(place):
        return await recover(place, organization_id, 3 * part, patience)


async def take(place: Place, organization_id: UUID, events: int) -> None:
    """Tell so many events, and wait until each had its effect."""
    before = await count_effects(place, organization_id)
    await make_things(Opening(place.host), organization_id, events)

    async def done() -> bool:
        return await count_effects(place, organization_id) >= before + events

    assert await came(done, 600)


async def recover(place: Place, organization_id: UUID, events: int, patience: float) -> Figures:
    """From the broker's return until the stream holds everything and the consumer has had it."""

    looks = 0

    async def at_rest() -> bool:
        """The whole stream was taken, and all effects are there or do not come for a good while.

        One look is not enough: until its reader is back, a consumer of the older disk may say
        that it has had what was told again a moment ago.
        """
        nonlocal looks
        carried = await is_carried(place.host, "probe")
        if not carried or not await is_consumed(place.host, CONSUMER):
            looks = 0
            return False
        looks += 1
        if await count_effects(place, organization_id) >= events:
            return True
        return looks >= _LOOKS_AT_REST

    began = time.perf_counter()
    await asyncio.to_thread(servers.start, place.home, "nats")
    settled = await came(at_rest, patience)
    seconds = time.perf_counter() - began
    found = await effects(place, organization_id)
    return Figures(
        events=events,
        lost=events - len(set(found)),
        doubled=len(found) - len(set(found)),
        seconds=seconds,
        settled=settled,
    )


@asynccontextmanager
async def consuming(place: Place) -> AsyncIterator[None]:
    """Relay, consumers and sealer; a second one beside it waits for the lead."""
    async with running(probe_side(place.host)):
        yield


async def count_effects(place: Place, organization_id: UUID) -> int:
    async with place.host.engines.connection("probe", "probe_system") as connection:
        found: int = await connection.fetchval(
            "SELECT count(*) FROM probe.effect WHERE organization_id = $1", organization_id
        )
    return found


async def effects(place: Place, organization_id: UUID) -> list[UUID]:
    async with place.host.engines.connection("probe", "probe_system") as connection:
        rows = await connection.fetch(
            "SELECT thing_id FROM probe.effect WHERE organization_id = $1", organization_id
        )
    return [row["thing_id"] for row in rows]


# The planted bugs come first: a consumer without an inbox has the whole history again.


@pytest.mark.prove
async def test_a_consumer_without_an_inbox_is_caught(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing_done(*_: object) -> set[tuple[str, UUID]]:
        return set()

    async def take_always(*_: object) -> None:
        return None

    monkeypatch.setattr(Taking, "done_already", nothing_done)
    monkeypatch.setattr("thenga.kernel.events.delivery.take", lambda *_: take_always)

    figures = await all_taken(place, 50, patience=60)

    print(f"\nplanted, no inbox: {figures}")
    assert figures.doubled > 0


@pytest.mark.prove
async def test_a_relay_that_does_not_compare_is_caught(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing_forgotten(*_: object) -> int:
        return 0

    monkeypatch.setattr(Outbox, "forget_after", nothing_forgotten)

    figures = await part_taken(place, lose_all, 50, patience=4)

    print(f"\nplanted, no comparison: {figures}")
    assert figures.lost > 0
    # The next test begins with a stream that is whole.
    monkeypatch.undo()
    async with running(Relay(place.host, "probe")):
        assert await came(lambda: is_carried(place.host, "probe"), 180)


@pytest.mark.rule("SEC-13")
async def test_a_wiped_stream_is_told_again_without_a_second_effect(place: Place) -> None:
    events = size(500, 50_000)

    figures = await all_taken(place, events)

    print(f"\namnesia of {events} taken events: {figures}")
    assert figures.settled
    assert (figures.lost, figures.doubled) == (0, 0)
    assert figures.seconds <= MOST_SECONDS or not size(0, 1)


@pytest.mark.prove
@pytest.mark.rule("SEC-13")
@pytest.mark.parametrize("forget", [lose_all, go_back])
async def test_what_no_consumer_had_yet_outlives_the_disk(place: Place, forget: Forget) -> None:
    part = size(80, 2_000)

    figures = await part_taken(place, forget, part)

    print(f"\namnesia of {part} untaken of {figures.events}, {forget.__name__}: {figures}")
    assert figures.settled
    assert (figures.lost, figures.doubled) == (0, 0)
    assert figures.seconds <= MOST_SECONDS or not size(0, 1)
