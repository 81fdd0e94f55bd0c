"""The connections of one login: a stack of idle ones, a bound, and a queue of those who wait.

Not asyncpg's own pool: that one resets every connection, wraps it and shields each return in a
task, which cost a tenth of a small request (docs/decisions/0007). Here nothing has to be reset,
because all that a unit of work sets is local to its transaction; a connection
that comes back inside a transaction is not handed on. Nobody waits for ever, and no connection
lives for ever: what a server or a proxy keeps for each (plans, catalogue entries) is given back.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import SystemRandom
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg

from thenga.kernel.db.pool_bound import Bound, Place
from thenga.kernel.errors import Overloaded

if TYPE_CHECKING:
    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]
else:  # the class cannot be subscripted at run time
    Connection = asyncpg.Connection


_random = SystemRandom()


class Pool:
    """At most `size` connections; who comes when all are out waits in line, and not for ever.

    Pools that share a `bound` give way to each other: see `pool_bound.py`.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        size: int,
        *,
        bound: Bound | None = None,
        wait_seconds: float = 10.0,
        age_seconds: float = 1800.0,
    ) -> None:
        self.lent = 0
        self._connect = connect
        self._size = size
        self._bound = bound or Bound(size)
        self._wait_seconds = wait_seconds
        self._age_seconds = age_seconds
        self._made = 0
        self._idle: dict[Connection, float] = {}  # since when; the last that came back is the last
        self._ages: dict[Connection, asyncio.TimerHandle] = {}
        self._old: set[Connection] = set()  # to be closed when they come back
        self._closing: set[asyncio.Task[None]] = set()
        self._waiting: deque[tuple[float, asyncio.Future[Connection | Place | None]]] = deque()
        self._bound.join(self)

    async def acquire(self) -> Connection:
        """A connection that is alive as far as anybody knows."""
        granted = self._grant() or await self._in_line()
        if granted is None:
            raise asyncpg.InterfaceError("the pool is closed")
        return await self._open(granted) if isinstance(granted, Place) else granted

    def release(self, connection: Connection) -> None:
        """Hand it to the next in line, or keep it; one that is not clean is cut."""
        if not connection.is_closed() and (_in_transaction(connection) or not self._size):
            connection.terminate()
        self._bound.take_back(self)
        if connection in self._old or connection.is_closed() or self._bound.is_exceeded:
            self._retire(connection)
        else:
            self._idle[connection] = monotonic()
            if self._bound.waiting:
                self._bound.serve(self)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection for a block; an error in the block cuts it.

        asyncpg prepares a statement without a Sync. One that was prepared and never run, because
        an argument has the wrong type or the task was cancelled, is still running for the server,
        and its timeout would meet the next user of the connection.
        """
        connection = await self.acquire()
        try:
            yield connection
        except BaseException:
            connection.terminate()
            raise
        finally:
            self.release(connection)

    async def fetchrow(self, text: str, *arguments: Any) -> asyncpg.Record | None:
        """One statement outside any transaction: the gate's."""
        async with self.connection() as connection:
            return await connection.fetchrow(text, *arguments)

    async def fetch(self, text: str, *arguments: Any) -> list[asyncpg.Record]:
        """As `fetchrow`, where the statement returns many rows."""
        async with self.connection() as connection:
            return await connection.fetch(text, *arguments)

    async def close(self) -> None:
        """Close what is idle; what is out is cut when it comes back."""
        self._size = 0
        self._bound.leave(self)
        while self._call(None):
            pass  # who waits is told
        for connection in list(self._idle):
            del self._idle[connection]
            self._retire(connection)
        await asyncio.gather(*self._closing)

    @property
    def waiting_since(self) -> float | None:
        """When the first in line came; nothing where nobody waits."""
        while self._waiting and self._waiting[0][1].done():
            self._waiting.popleft()
        return self._waiting[0][0] if self._waiting else None

    @property
    def idle_since(self) -> float | None:
        """Since when its longest idle connection has had nothing to do."""
        return next(iter(self._idle.values()), None)

    def serve(self) -> bool:
        """Give the first in line a connection or a place for a new one, if there is one."""
        if self.waiting_since is None or (granted := self._grant()) is None:
            return False
        return self._call(granted)

    def vacate(self) -> asyncio.Task[None]:
        """Close the longest idle connection; whoever asks for it has its place from then on."""
        connection = next(iter(self._idle))
        del self._idle[connection]
        return self._close(connection)

    def _grant(self) -> Connection | Place | None:
        """An idle connection, or a place for a new one, where the bounds allow it."""
        if not self._bound.may_lend(self):
            return None
        granted: Connection | Place | None = None
        while self._idle and granted is None:
            connection, _ = self._idle.popitem()
            if connection.is_closed():
                self._retire(connection)
            else:
                granted = connection
        if granted is None and self._made < self._size:
            granted = self._bound.place()
            self._made += granted is not None
        if granted is not None:
            self._bound.lend(self)
        return granted

    async def _open(self, place: Place) -> Connection:
        try:
            if place.vacating is not None:
                await asyncio.shield(place.vacating)
            made = await self._connect()
        except BaseException:
            self._give_up(place)
            raise
        # Not all at one instant, although they were opened together.
        seconds = self._age_seconds * _random.uniform(0.8, 1.0)
        self._ages[made] = asyncio.get_running_loop().call_later(seconds, self._age, made)
        return made

    def _give_up(self, place: Place) -> None:
        """Give back a place at which nothing was opened."""
        self._made -= 1
        self._bound.take_back(self)
        if place.vacating is None or place.vacating.done():
            self._bound.free()
        else:
            place.vacating.add_done_callback(lambda _: self._bound.free())

    def _age(self, connection: Connection) -> None:
        """Close one that has lived long: now if it is idle, else when it comes back."""
        if self._idle.pop(connection, None) is not None:
            self._retire(connection)
        else:
            self._old.add(connection)

    def _retire(self, connection: Connection) -> None:
        """Close one that is in nobody's hands, and let others have its place."""
        if connection.is_closed():
            self._forget(connection)
            self._bound.free()
        else:
            self._close(connection).add_done_callback(lambda _: self._bound.free())

    def _close(self, connection: Connection) -> asyncio.Task[None]:
        self._forget(connection)
        closing = asyncio.get_running_loop().create_task(_close(connection))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        return closing

    def _forget(self, connection: Connection) -> None:
        self._made -= 1
        self._old.discard(connection)
        self._ages.pop(connection).cancel()

    async def _in_line(self) -> Connection | Place | None:
        if not self._size:
            return None
        turn: asyncio.Future[Connection | Place | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((monotonic(), turn))
        self._bound.waiting += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                return await turn
        except (asyncio.CancelledError, TimeoutError) as error:
            if turn.done() and not turn.cancelled() and (given := turn.result()) is not None:
                # Given in the moment in which the waiting was given up.
                self._give_up(given) if isinstance(given, Place) else self.release(given)
            if isinstance(error, TimeoutError):
                detail = "All database connections are in use. Try again shortly."
                raise Overloaded(detail, headers={"Retry-After": "1"}) from None
            raise
        finally:
            self._bound.waiting -= 1

    def _call(self, granted: Connection | Place | None) -> bool:
        """Tell the first in line what it is given; nothing means that the pool was closed."""
        while self._waiting:
            _, turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(granted)
                return True
        return False


def _in_transaction(connection: Connection) -> bool:
    """Whether the server is inside a transaction, or asyncpg believes that it is.

    A task that is cancelled before `BEGIN` is sent leaves the second without the first, and every
    `transaction()` of the next users would fail as a savepoint outside a transaction.
    """
    return connection.is_in_transaction() or connection._top_xact is not None  # type: ignore[attr-defined]


async def _close(connection: Connection) -> None:
    try:
        await connection.close(timeout=2)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
        connection.terminate()
