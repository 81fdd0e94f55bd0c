"""The connections of one login: a stack of idle ones, a bound, and a queue of those who wait.

Not asyncpg's own pool: that one resets every connection, wraps it and shields each return in a
task, which cost a tenth of a small request (docs/decisions/0007). Here nothing has to be reset,
because all that a unit of work sets is local to its transaction (security rule 1); a connection
that comes back inside a transaction is not handed on. Nobody waits for ever, and no connection
lives for ever: what a server or a proxy keeps for each (plans, catalogue entries) is given back.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import SystemRandom
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg

from thenga.kernel.errors import Overloaded

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]
else:  # the class cannot be subscripted at run time
    Connection = asyncpg.Connection


_random = SystemRandom()


class Pool:
    """At most `size` connections; who comes when all are out waits in line, and not for ever."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        size: int,
        *,
        wait_seconds: float = 10.0,
        age_seconds: float = 1800.0,
    ) -> None:
        self._connect = connect
        self._size = size
        self._wait_seconds = wait_seconds
        self._age_seconds = age_seconds
        self._made = 0
        self._idle: list[Connection] = []
        self._ages: dict[Connection, asyncio.TimerHandle] = {}
        self._old: set[Connection] = set()  # to be closed when they come back
        self._closing: set[asyncio.Task[None]] = set()
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()

    async def acquire(self) -> Connection:
        """A connection that is alive as far as anybody knows."""
        while self._size:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    return connection
                self._forget(connection)
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
        if connection in self._old:
            self._retire(connection)
        elif connection.is_closed():
            self._forget(connection)
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
            self._forget(connection)
            await _close(connection)
        await asyncio.gather(*self._closing)

    async def _open(self) -> Connection:
        self._made += 1
        try:
            made = await self._connect()
        except BaseException:
            self._made -= 1
            self._call(None)
            raise
        # Not all at one instant, although they were opened together.
        seconds = self._age_seconds * _random.uniform(0.8, 1.0)
        self._ages[made] = asyncio.get_running_loop().call_later(seconds, self._age, made)
        return made

    def _age(self, connection: Connection) -> None:
        """Close one that has lived long: now if it is idle, else when it comes back."""
        if connection in self._idle:
            self._idle.remove(connection)
            self._retire(connection)
        else:
            self._old.add(connection)

    def _retire(self, connection: Connection) -> None:
        self._forget(connection)
        closing = asyncio.get_running_loop().create_task(_close(connection))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        self._call(None)

    def _forget(self, connection: Connection) -> None:
        self._made -= 1
        self._old.discard(connection)
        self._ages.pop(connection).cancel()

    async def _in_line(self) -> Connection | None:
        turn: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(self._wait_seconds):
                return await turn
        except (asyncio.CancelledError, TimeoutError) as error:
            if turn.done() and not turn.cancelled() and (given := turn.result()) is not None:
                self.release(given)  # given in the moment in which the waiting was given up
            if isinstance(error, TimeoutError):
                detail = "All database connections are in use. Try again shortly."
                raise Overloaded(detail, headers={"Retry-After": "1"}) from None
            raise

    def _call(self, connection: Connection | None) -> bool:
        """Give the next in line a connection, or word that there is room for a new one."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(connection)
                return True
        return False


async def _close(connection: Connection) -> None:
    try:
        await connection.close(timeout=2)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        connection.terminate()
