"""The connections of one login: a stack of idle ones, a bound, and a queue of those who wait.

Not asyncpg's own pool: that one resets every connection, wraps it and shields each return in a
task, which cost a tenth of a small request (docs/decisions/0007). Here nothing has to be reset,
because all that a unit of work sets is local to its transaction (security rule 1); a connection
that comes back inside a transaction is not handed on.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]
else:  # the class cannot be subscripted at run time
    Connection = asyncpg.Connection


class Pool:
    """At most `size` connections; who comes when all are out waits in line."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], size: int) -> None:
        self._connect = connect
        self._size = size
        self._made = 0
        self._idle: list[Connection] = []
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()

    async def acquire(self) -> Connection:
        """A connection that is alive as far as anybody knows."""
        while self._size:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    return connection
                self._made -= 1
            if self._made < self._size:
                return await self._open()
            given = await self._in_line()
            if given is not None:
                return given
        raise asyncpg.InterfaceError("the pool is closed")

    def release(self, connection: Connection) -> None:
        """Hand it to the next in line, or keep it; one that is not clean is cut."""
        if not connection.is_closed() and (connection.is_in_transaction() or not self._size):
            connection.terminate()
        if connection.is_closed():
            self._made -= 1
            self._call(None)
        elif not self._call(connection):
            self._idle.append(connection)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        connection = await self.acquire()
        try:
            yield connection
        finally:
            self.release(connection)

    async def fetchrow(self, text: str, *arguments: Any) -> asyncpg.Record | None:
        """One statement outside any transaction: the gate's."""
        connection = await self.acquire()
        try:
            return await connection.fetchrow(text, *arguments)
        finally:
            self.release(connection)

    async def fetch(self, text: str, *arguments: Any) -> list[asyncpg.Record]:
        """As `fetchrow`, where the statement returns many rows."""
        connection = await self.acquire()
        try:
            return await connection.fetch(text, *arguments)
        finally:
            self.release(connection)

    async def close(self) -> None:
        """Close what is idle; what is out is cut when it comes back."""
        self._size = 0
        while self._call(None):
            pass  # who waits is told
        idle, self._idle = self._idle, []
        for connection in idle:
            self._made -= 1
            try:
                await connection.close(timeout=2)
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                connection.terminate()

    async def _open(self) -> Connection:
        self._made += 1
        try:
            return await self._connect()
        except BaseException:
            self._made -= 1
            self._call(None)
            raise

    async def _in_line(self) -> Connection | None:
        turn: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and (given := turn.result()) is not None:
                self.release(given)  # given in the moment in which the waiting was given up
            raise

    def _call(self, connection: Connection | None) -> bool:
        """Give the next in line a connection, or word that there is room for a new one."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(connection)
                return True
        return False
