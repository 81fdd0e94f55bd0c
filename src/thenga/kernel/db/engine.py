"""One pool a login, made on first use; the only place that opens connections.

A domain has three logins: its own (row security in force), `<domain>_system` for work over all
organizations, held by workers only, and, where it has a gate, `<domain>_gate`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg
import orjson

from thenga.kernel.settings import Settings

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
    Session: TypeAlias = asyncpg.Connection[asyncpg.Record]  # outside the pools
else:  # the classes cannot be subscripted at run time
    Connection, Session = asyncpg.pool.PoolConnectionProxy, asyncpg.Connection


class NoSystemLogin(RuntimeError):
    """This process was given no address for the system logins; only workers are."""


class Engines:
    """The pools of this process, by login."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pools: dict[str, asyncpg.Pool[asyncpg.Record]] = {}
        self._making = asyncio.Lock()

    def address(self, domain: str, login: str) -> str:
        """Where a login connects; `THENGA_DATABASE_<DOMAIN>` moves a domain elsewhere."""
        if login == f"{domain}_system":
            template = self._settings.of_domain("system_database", domain)
            template = template or self._settings.system_database
            if not template:
                raise NoSystemLogin(login)
        else:
            template = self._settings.of_domain("database", domain) or self._settings.database
        return template.replace("{login}", login)

    async def pool(self, domain: str, login: str | None = None) -> "asyncpg.Pool[asyncpg.Record]":
        """The pool of a domain's own login, or of another of its logins."""
        login = login or domain
        pool = self._pools.get(login)
        if pool is not None:
            return pool
        async with self._making:
            if login not in self._pools:
                self._pools[login] = await asyncpg.create_pool(
                    self.address(domain, login),
                    min_size=1,
                    max_size=self._settings.pool_size,
                    init=_teach_json,
                    reset=_leave_clean,
                    command_timeout=self._settings.statement_seconds,
                    max_inactive_connection_lifetime=300,
                    server_settings={
                        "application_name": f"thenga {login}",
                        "jit": "off",
                        "statement_timeout": str(int(self._settings.statement_seconds * 1000)),
                    },
                )
        return self._pools[login]

    @asynccontextmanager
    async def connection(self, domain: str, login: str) -> AsyncIterator[Connection]:
        """A connection of a login, for the kernel's own processes (relay, sealer, gate)."""
        pool = await self.pool(domain, login)
        async with pool.acquire() as connection:
            yield connection

    async def session(self, domain: str, login: str) -> Session:
        """A session outside the pools, for locks that must live and die with it."""
        return await asyncpg.connect(
            self.address(domain, login),
            timeout=5,
            command_timeout=60,
            server_settings={"application_name": f"thenga {login} session", "jit": "off"},
        )

    async def close(self) -> None:
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            try:
                await asyncio.wait_for(pool.close(), 5)
            except (TimeoutError, asyncpg.PostgresError, OSError):
                pool.terminate()


async def _teach_json(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    for name in ("json", "jsonb"):
        await connection.set_type_codec(
            name, schema="pg_catalog", encoder=_to_json, decoder=orjson.loads, format="text"
        )


def _to_json(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()


async def _leave_clean(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    # Everything set by a unit of work is local to its transaction (security rule 1), so there is
    # nothing for `RESET ALL` to do; an open transaction would be a defect and ends here.
    if connection.is_in_transaction():
        await connection.execute("ROLLBACK")
