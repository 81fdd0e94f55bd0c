"""The pool: bounded, fair, and nothing unclean is handed on."""

import asyncio

import asyncpg
import pytest

from thenga.kernel.db.engine import Engines
from thenga.kernel.db.pool import Connection, Pool
from thenga.kernel.settings import Settings


@pytest.fixture
async def pool(settings: Settings) -> Pool:
    async def connect() -> Connection:
        return await asyncpg.connect(Engines(settings).address("probe", "probe"))

    return Pool(connect, 3)


async def test_no_more_connections_are_out_than_the_bound(pool: Pool) -> None:
    out = most = 0

    async def use() -> None:
        nonlocal out, most
        async with pool.connection() as connection:
            out += 1
            most = max(most, out)
            await connection.fetchval("SELECT pg_sleep(0.002)")
            out -= 1

    await asyncio.gather(*(use() for _ in range(200)))
    await pool.close()

    assert most == 3
    print(f"\npool uses=200 most_out={most}")


async def test_those_who_wait_are_served_in_turn_and_may_give_up(pool: Pool) -> None:
    held = [await pool.acquire() for _ in range(3)]
    served: list[int] = []

    async def wait(number: int) -> None:
        connection = await pool.acquire()
        served.append(number)
        pool.release(connection)

    waiting = [asyncio.create_task(wait(n)) for n in range(4)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    for connection in held:
        pool.release(connection)
    await asyncio.gather(*waiting, return_exceptions=True)

    assert served == [0, 2, 3]
    await pool.close()


@pytest.mark.parametrize("spoil", ["BEGIN", "BEGIN; SELECT 1"])
async def test_a_connection_inside_a_transaction_is_cut(pool: Pool, spoil: str) -> None:
    first = await pool.acquire()
    await first.execute(spoil)
    pool.release(first)

    second = await pool.acquire()

    assert first.is_closed()
    assert not second.is_in_transaction()
    pool.release(second)
    await pool.close()


async def test_a_connection_given_to_who_gave_up_is_not_lost(pool: Pool) -> None:
    held = [await pool.acquire() for _ in range(3)]
    waiting = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)
    pool.release(held[0])  # given to the one in line …
    waiting.cancel()  # … who gives up before it runs again
    await asyncio.gather(waiting, return_exceptions=True)

    again = await asyncio.wait_for(pool.acquire(), 1)

    for connection in (again, held[1], held[2]):
        pool.release(connection)
    await pool.close()


async def test_a_closed_pool_says_so(pool: Pool) -> None:
    held = [await pool.acquire() for _ in range(3)]
    waiting = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)

    await pool.close()

    with pytest.raises(asyncpg.InterfaceError):
        await waiting
    for connection in held:
        pool.release(connection)
        assert connection.is_closed()
