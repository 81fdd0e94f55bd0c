"""Our pool beside asyncpg's own with an empty `reset=`: CPU time of this process for one use.

`PYTHONPATH=. python -m tests.bench.pools`, with a PostgreSQL of its own. CPU time, because it
depends least on what else the machine does.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import asyncpg

from tests import meshes
from thenga.kernel.db.pool import Connection, Pool
from thenga.tooling.dev import servers

ROUNDS, USES, SIZE = 9, 2_000, 8
_BEGIN = "BEGIN READ ONLY; SELECT set_config('app.organization_id', 'a', true)"

Lending = Callable[[], AbstractAsyncContextManager[Any]]


async def _nothing(connection: Any) -> None:
    """All that a unit of work sets is local to its transaction."""


@asynccontextmanager
async def lending(address: str) -> AsyncIterator[dict[str, Lending]]:
    async def connect() -> Connection:
        return await asyncpg.connect(address)

    ours = Pool(connect, SIZE)
    theirs = await asyncpg.create_pool(address, min_size=SIZE, max_size=SIZE, reset=_nothing)
    resetting = await asyncpg.create_pool(address, min_size=SIZE, max_size=SIZE)
    try:
        yield {
            "ours": ours.connection,
            "asyncpg reset=nothing": theirs.acquire,
            "asyncpg": resetting.acquire,
        }
    finally:
        await ours.close()
        await theirs.close()
        await resetting.close()


async def lend(acquire: Lending) -> None:
    async with acquire():
        pass


async def statement(acquire: Lending) -> None:
    async with acquire() as connection:
        await connection.fetchval("SELECT 1")


async def unit_of_work(acquire: Lending) -> None:
    async with acquire() as connection:
        await connection.execute(_BEGIN)
        await connection.fetchrow("SELECT $1::int AS one", 1)
        await connection.execute("COMMIT")


async def measured(use: Callable[[Lending], Any], acquire: Lending, at_once: int) -> float:
    """CPU microseconds of one use."""

    async def repeat() -> None:
        for _ in range(USES // at_once):
            await use(acquire)

    begun = process_time()
    await asyncio.gather(*(repeat() for _ in range(at_once)))
    return (process_time() - begun) / USES * 1_000_000


async def main(address: str) -> None:
    async with lending(address) as pools:
        for use in (lend, statement, unit_of_work):
            for at_once in (1, 16):
                seen: dict[str, list[float]] = {name: [] for name in pools}
                for _ in range(ROUNDS):
                    for name, acquire in pools.items():
                        seen[name].append(await measured(use, acquire, at_once))
                figures = " ".join(f"{name}={median(took):.1f}" for name, took in seen.items())
                print(f"{use.__name__} at_once={at_once} cpu_us: {figures}")


if __name__ == "__main__":
    home = Path(tempfile.mkdtemp(prefix="thenga-bench-"))
    home.chmod(0o755)
    try:
        asyncio.run(main(servers.up(home, meshes.reads())["THENGA_ADMIN_DATABASE"]))
    finally:
        servers.remove(home)
        shutil.rmtree(home, ignore_errors=True)
