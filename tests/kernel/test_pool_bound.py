"""One bound for all pools: who is idle gives way, nobody starves, and nothing is left over."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.kernel.running import until_true
from thenga.kernel.db.engine import Engines
from thenga.kernel.db.pool import Connection, Pool
from thenga.kernel.db.pool_bound import Bound, Place, TooFewConnections
from thenga.kernel.errors import Overloaded
from thenga.kernel.process.settings import Settings

MOST, SIZE = 12, 8


class Several:
    """Pools of one bound, and how many connections the server has for them.

    They wait longer than a test, so that nobody is refused because the machine is busy.
    """

    def __init__(self, settings: Settings, count: int, *, wait_seconds: float = 600.0) -> None:
        self._address = Engines(settings).address("probe", "probe")
        self.open = self.most_open = 0
        self.bound = Bound(MOST)
        self.pools = [
            Pool(self._connect, SIZE, bound=self.bound, wait_seconds=wait_seconds)
            for _ in range(count)
        ]

    async def _connect(self) -> Connection:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            made = await asyncpg.connect(self._address)
        except BaseException:
            self.open -= 1
            raise
        made.add_termination_listener(self._ended)
        return made

    def _ended(self, _: object) -> None:
        self.open -= 1

    async def close(self) -> None:
        for pool in self.pools:
            await pool.close()


@pytest.fixture
async def several(settings: Settings) -> AsyncIterator[Several]:
    made = Several(settings, 5)
    yield made
    await made.close()


async def _use_all(several: Several, *, times: int = 12) -> int:
    """Many at once in every pool; how many were served."""
    served = 0

    async def use(pool: Pool) -> None:
        nonlocal served
        async with pool.connection() as connection:
            await connection.fetchval("SELECT pg_sleep(0.01)")
        served += 1

    await asyncio.gather(*(use(pool) for pool in several.pools for _ in range(times)))
    return served


async def test_all_pools_together_stay_within_the_bound(several: Several) -> None:
    served = await _use_all(several)

    print(f"\nbound={MOST} pools=5x{SIZE} uses={served} most_open={several.most_open}")
    assert served == 60
    assert several.most_open <= MOST


async def test_a_planted_pool_that_ignores_the_bound_is_found(
    several: Several, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bound, "may_lend", lambda *_: True)
    monkeypatch.setattr(Bound, "place", lambda _: Place())

    await _use_all(several)

    assert several.most_open > MOST


async def test_the_longest_idle_connection_gives_way(several: Several) -> None:
    first, second, third, *_ = several.pools
    early = [await first.acquire() for _ in range(6)]
    late = [await second.acquire() for _ in range(3)]
    for connection in early[:5]:
        first.release(connection)
    for connection in late:
        second.release(connection)
    taken = [await third.acquire() for _ in range(5)]

    assert [c.is_closed() for c in early] == [True, True, False, False, False, False]
    assert not any(connection.is_closed() for connection in late)
    assert several.most_open <= MOST
    for connection in taken:
        third.release(connection)
    first.release(early[5])


async def test_what_comes_back_goes_to_who_waits_in_another_pool(several: Several) -> None:
    held: dict[Pool, list[Connection]] = {pool: [] for pool in several.pools[:2]}
    for pool, out in held.items():
        while several.bound.may_lend(pool) and len(out) < SIZE:
            out.append(await pool.acquire())
    full = next(reversed(held))
    waiting = asyncio.create_task(full.acquire())
    await until_true(lambda: several.bound.waiting == 1)

    first = several.pools[0]
    first.release(held[first].pop())
    given = await asyncio.wait_for(waiting, 30)

    assert not given.is_closed()
    for pool, out in held.items():
        for connection in out:
            pool.release(connection)
    full.release(given)
    assert several.most_open <= MOST


async def test_a_second_connection_does_not_wait_for_those_that_wait(settings: Settings) -> None:
    """As a unit of work that holds one connection while it asks another domain."""
    several = Several(settings, 3)
    outer, _, inner = several.pools

    async def nested() -> None:
        async with outer.connection(), inner.connection() as connection:
            await connection.fetchval("SELECT 1")

    async with asyncio.timeout(60):  # less than a pool waits: a deadlock fails here
        await asyncio.gather(*(nested() for _ in range(60)))

    assert several.most_open <= MOST
    await several.close()


async def test_nested_use_starves_where_nothing_is_kept(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bound, "may_lend", lambda bound, _: bound._lent < MOST)
    several = Several(settings, 3, wait_seconds=0.2)
    pools = several.pools

    async def nested(number: int) -> None:
        async with pools[number % 2].connection(), pools[2].connection():
            pass

    found = await asyncio.gather(*(nested(n) for n in range(40)), return_exceptions=True)

    assert any(isinstance(error, Overloaded) for error in found)
    await several.close()


async def test_reserved_places_are_not_lent(several: Several) -> None:
    await _use_all(several)
    with several.bound.reserved(4):
        await until_true(lambda: several.open <= MOST - 4)  # what was idle is being closed
        several.most_open = several.open
        await _use_all(several)
        within = several.most_open
    await _use_all(several)

    assert within <= MOST - 4
    assert several.open <= MOST


def test_a_bound_that_is_too_low_says_what_it_must_be() -> None:
    with (
        pytest.raises(TooFewConnections, match="THENGA_CONNECTIONS is 16; set at least 23"),
        Bound(16).reserved(15),
    ):
        pass


async def test_who_gives_up_leaves_no_place_taken(several: Several) -> None:
    pool, other = several.pools[:2]
    held = [await pool.acquire() for _ in range(SIZE)]
    for connection in held:
        pool.release(connection)
    opening = [asyncio.create_task(other.acquire()) for _ in range(SIZE)]
    await asyncio.sleep(0)  # they have places now, some of connections that are being closed
    for task in opening:
        task.cancel()
    await asyncio.gather(*opening, return_exceptions=True)

    assert await _use_all(several) == 60
    await until_true(lambda: several.open == several.bound._open)  # what gave way is closed
    assert several.bound._lent == 0
    assert several.open <= MOST
