"""One pool a login, made on first use, and one bound for all of them (docs/decisions/0032).

A domain has three logins: its own (row security in force), `<domain>_system` for work over all
organizations, held by workers only, and, where it has a gate, `<domain>_gate`.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial
from typing import Any

import asyncpg
import orjson
from pydantic import BaseModel

from thenga.kernel.db.pool import Connection, Pool
from thenga.kernel.db.pool_bound import Bound
from thenga.kernel.process import secret_settings
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.shapes import as_document

__all__ = ["Connection", "Engines", "NoSystemLogin", "Session"]

# A domain has some hundreds of statement shapes (one an update for each set of changed columns);
# with asyncpg's own hundred a busy connection prepares and plans the same ones over and over.
_PREPARED = 1_000

_MOST_API, _MOST_WORKER = 64, 128  # connections of a process, unless `THENGA_CONNECTIONS` says so

Session = Connection  # outside the pools, for a lock that lives and dies with it


# A login may change the defaults of its own role (`ALTER ROLE … SET`), and PostgreSQL has no way to
# forbid it. What a connection asks for at its start wins over them, so it asks for all that counts.
_PINNED = {
    "row_security": "on",
    "default_transaction_read_only": "off",
    "default_transaction_isolation": "read committed",
    "standard_conforming_strings": "on",
    "app.organization_id": "",
    "app.user_id": "",
    "app.presented": "",
    "app.platform": "",
}


def pinned(domain: str) -> dict[str, str]:
    """The session settings that no default of a role may change; see decision 0024."""
    return {**_PINNED, "search_path": domain}


# The server cancels a slow statement itself, which is told as a 503. The client waits longer, so
# its own TimeoutError means that the server is silent.
SILENT_SECONDS = 5.0


class NoSystemLogin(RuntimeError):
    """This process may not use the system logins; only workers may."""


class Engines:
    """The pools of this process, by login."""

    def __init__(self, settings: Settings, *, system_logins: bool = True) -> None:
        self._settings = settings
        self._system_logins = system_logins
        self._pools: dict[str, Pool] = {}
        most = _MOST_WORKER if system_logins else _MOST_API
        self._bound = Bound(settings.connections or most)

    def address(self, domain: str, login: str) -> str:
        """Where a login connects; `THENGA_DATABASE_<DOMAIN>` moves a domain elsewhere."""
        if login == f"{domain}_system":
            template = self._settings.of_domain("system_database", domain)
            template = template or self._settings.system_database
            if not (template and self._system_logins):
                raise NoSystemLogin(login)
            secret = self._settings.system_database_secret
        else:
            template = self._settings.of_domain("database", domain) or self._settings.database
            secret = self._settings.database_secret
        return secret_settings.address(template, secret, login)

    def pool(self, domain: str, login: str | None = None) -> Pool:
        """The pool of a domain's own login, or of another of its logins."""
        login = login or domain
        pool = self._pools.get(login)
        if pool is None:
            address = self.address(domain, login)
            connect = partial(self._connect, domain, address, login)
            pool = Pool(
                connect,
                self._settings.pool_size,
                bound=self._bound,
                wait_seconds=self._settings.pool_wait_seconds,
                age_seconds=self._settings.connection_age_seconds,
            )
            self._pools[login] = pool
        return pool

    async def _connect(self, domain: str, address: str, login: str) -> Connection:
        seconds = self._settings.statement_seconds
        connection = await asyncpg.connect(
            address,
            timeout=5,
            command_timeout=seconds + SILENT_SECONDS,
            statement_cache_size=_PREPARED,
            server_settings={
                **pinned(domain),
                "application_name": f"thenga {login}",
                "jit": "off",
                "statement_timeout": str(int(seconds * 1000)),
            },
        )
        for name in ("json", "jsonb"):
            await connection.set_type_codec(
                name, schema="pg_catalog", encoder=_to_json, decoder=orjson.loads, format="text"
            )
        return connection

    @asynccontextmanager
    async def connection(self, domain: str, login: str) -> AsyncIterator[Connection]:
        """A connection of a login, for the kernel's own processes (relay, sealer, jobs)."""
        async with self.pool(domain, login).connection() as connection:
            yield connection

    def reserved(self, count: int) -> AbstractContextManager[None]:
        """Places within the bound for sessions and for the connections of Procrastinate."""
        return self._bound.reserved(count)

    async def session(self, domain: str, login: str) -> Connection:
        """A session outside the pools, for locks that must live and die with it."""
        return await asyncpg.connect(
            self.address(domain, login),
            timeout=5,
            command_timeout=60,
            server_settings={
                **pinned(domain),
                "application_name": f"thenga {login} session",
                "jit": "off",
            },
        )

    async def close(self) -> None:
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.close()


def _to_json(value: Any) -> str:
    return orjson.dumps(value, default=_plain).decode()


def _plain(value: object) -> object:
    return as_document(value) if isinstance(value, BaseModel) else str(value)
