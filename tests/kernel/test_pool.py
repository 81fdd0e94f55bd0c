"""The pool: bounded, fair, and nothing unclean is handed on."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import asyncpg
import pytest

from tests.kernel.running import until_true
from thenga.kernel.db.engine import Engines
from thenga.kernel.db.pool import Connection, Pool
from thenga.kernel.errors import Overloaded
from thenga.kernel.process.settings import Settings


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


async def test_a_connection_cancelled_before_begin_is_cut(pool: Pool) -> None:
    connection = await pool.acquire()
    await _cancelled(connection.execute("SELECT pg_sleep(60)"))
    # The server is still being told: BEGIN waits for that, and is never sent.
    await _cancelled(connection.transaction().start())
    assert not connection.is_in_transaction()
    pool.release(connection)

    async with pool.connection() as next_one, next_one.transaction():
        assert await next_one.fetchval("SELECT 1") == 1
    await pool.close()


@pytest.fixture
async def impatient(settings: Settings) -> AsyncIterator[Pool]:
    """One connection at a time; statements of the first may take a second."""
    address, made = Engines(settings).address("probe", "probe"), 0

    async def connect() -> Connection:
        nonlocal made
        made += 1
        bound = {"statement_timeout": "1000"} if made == 1 else {}
        return await asyncpg.connect(address, server_settings=bound)

    pool = Pool(connect, 1)
    yield pool
    await pool.close()


async def _after_wrong_argument(pool: Pool) -> int | None:
    """What the next user reads when a statement was prepared and, by its argument, never run."""
    with pytest.raises(asyncpg.DataError):
        await pool.fetchrow("SELECT $1::int", "not a number")
    await asyncio.sleep(1.5)
    found = await pool.fetchrow("SELECT 1 AS n")
    return found and found["n"]


async def test_statement_that_never_ran_does_not_fail_the_next(impatient: Pool) -> None:
    assert await _after_wrong_argument(impatient) == 1


async def test_a_planted_pool_that_keeps_such_a_connection_is_found(
    impatient: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "terminate", lambda _self: None)

    with pytest.raises(asyncpg.QueryCanceledError):
        await _after_wrong_argument(impatient)


async def _cancelled(doing: Coroutine[Any, Any, object]) -> None:
    task = asyncio.create_task(doing)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_connection_given_to_who_gave_up_is_not_lost(pool: Pool) -> None:
    held = [await pool.acquire() for _ in range(3)]
    waiting = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0)
    pool.release(held[0])  # given to the one in line …
    waiting.cancel()  # … who gives up before it runs again
    await asyncio.gather(waiting, return_exceptions=True)

    again = await asyncio.wait_for(pool.acquire(), 30)

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


def _pool(settings: Settings, **bounds: float) -> Pool:
    async def connect() -> Connection:
        return await asyncpg.connect(Engines(settings).address("probe", "probe"))

    return Pool(connect, 1, **bounds)


async def test_nobody_waits_for_a_connection_for_ever(settings: Settings) -> None:
    pool = _pool(settings, wait_seconds=0.05)
    held = await pool.acquire()

    with pytest.raises(Overloaded) as refused:
        await asyncio.wait_for(pool.acquire(), 30)

    pool.release(held)
    assert refused.value.headers == {"Retry-After": "1"}
    async with asyncio.timeout(30), pool.connection() as again:
        assert again is held  # who gave up has taken no place
    await pool.close()


async def backend(pool: Pool) -> int:
    async with pool.connection() as connection:
        number: int = await connection.fetchval("SELECT pg_backend_pid()")
        return number


async def test_no_connection_lives_for_ever(settings: Settings) -> None:
    pool = _pool(settings, age_seconds=0.1)

    async with pool.connection() as idle:
        pass
    await until_true(idle.is_closed)
    async with pool.connection() as used:
        await until_true(lambda: used in pool._old)  # grows old while somebody works with it
        assert await used.fetchval("SELECT 1") == 1
        waiting = asyncio.create_task(backend(pool))
    next_one = await waiting
    await pool.close()

    assert used.is_closed()
    print(f"\npool age_s=0.1 closed=2 next={next_one}")


async def test_a_planted_pool_that_keeps_what_is_old_is_found(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    aged: list[Connection] = []
    monkeypatch.setattr(Pool, "_age", lambda self, connection: aged.append(connection))
    pool = _pool(settings, age_seconds=0.05)

    first = await backend(pool)
    await until_true(lambda: bool(aged))

    assert await backend(pool) == first
    await pool.close()
