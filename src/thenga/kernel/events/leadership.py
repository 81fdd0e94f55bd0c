"""Leading: of all processes one does a thing, for as long as its database session lives."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import asyncpg
import structlog

from thenga.kernel.db.engine import Session
from thenga.kernel.process.host import Host

_ASK_SECONDS = 0.5  # how often a standby asks whether the lead is free
_PULSE_SECONDS = 2.0
_SILENCE_SECONDS = 5.0
_SHORTEST, _LONGEST = 0.1, 10.0  # pause before something that failed is run again
_SETTLED_SECONDS = 15.0  # what ran this long failed for a new reason

_TRY_TEXT = (
    "SELECT name FROM unnest($1::text[]) AS name "
    "WHERE pg_try_advisory_lock(hashtextextended(name, 0))"
)

log = structlog.get_logger()


class LostLead(ConnectionError):
    """The session that held the lock is gone, so somebody else may lead already."""


class Lead:
    """A lock that is held, and the one session that it stands and falls with.

    What a leader writes through `session` cannot be written once the lock is lost.
    """

    def __init__(self, name: str, session: Session, turn: asyncio.Lock) -> None:
        self.name = name
        self.ended = asyncio.Event()
        self._session = session
        self._turn = turn

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        async with self._turn:
            yield self._session


class Seat:
    """One session of `<domain>_system` with every lock that a process holds through it."""

    def __init__(self, host: Host, domain: str) -> None:
        self._host = host
        self._domain = domain
        self._turn = asyncio.Lock()
        self._session: Session | None = None
        self._pulse: asyncio.Task[None] | None = None
        self._leads: dict[str, Lead] = {}
        self._wanted: dict[str, asyncio.Future[Lead]] = {}
        self._asking: asyncio.Task[None] | None = None

    async def take(self, *names: str) -> list[Lead]:
        """The leads of those names that no other has."""
        async with self._turn:
            session = await self._opened()
            # The lock would let the same session in twice.
            asked = [name for name in names if name not in self._leads]
            found = await session.fetch(_TRY_TEXT, asked)
            taken = [Lead(row["name"], session, self._turn) for row in found]
            self._leads |= {lead.name: lead for lead in taken}
            return taken

    async def wait(self, name: str, stop: asyncio.Event) -> Lead | None:
        """The lead of `name` once no other has it; nothing when stopped before.

        All who wait at this seat are asked for in one statement.
        """
        wanted = self._wanted[name] = asyncio.get_running_loop().create_future()
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((wanted, stopping), return_when=asyncio.FIRST_COMPLETED)
            return wanted.result() if wanted.done() else None
        finally:
            stopping.cancel()
            self._wanted.pop(name, None)

    async def _ask(self) -> None:
        while self._wanted:
            try:
                taken = await self.take(*self._wanted)
            except Exception as error:  # noqa: BLE001  # whoever waits is told, and begins again
                waiting, self._wanted = self._wanted, {}
                for each in waiting.values():
                    each.set_exception(error)
                return
            for lead in taken:
                wanted = self._wanted.pop(lead.name, None)
                if wanted is None:  # stopped meanwhile
                    await self.leave(lead)
                else:
                    wanted.set_result(lead)
            await asyncio.sleep(_ASK_SECONDS * random.uniform(0.5, 1))  # noqa: S311  # only spreads

    async def leave(self, lead: Lead) -> None:
        """Give a lead back; one that was lost is gone already."""
        if self._leads.get(lead.name) is not lead:
            return
        del self._leads[lead.name]
        text = "SELECT pg_advisory_unlock(hashtextextended($1, 0))"
        with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            async with lead.session() as session:
                await session.execute(text, lead.name)

    async def close(self) -> None:
        """End the session, and every lead with it."""
        for task in (self._pulse, self._asking):
            if task is not None:
                task.cancel()
        if self._session is not None and not self._session.is_closed():
            try:
                await self._session.close(timeout=2)
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                self._session.terminate()

    async def _opened(self) -> Session:
        if self._session is None or self._session.is_closed():
            login = f"{self._domain}_system"
            session = await self._host.engines.session(self._domain, login)
            self._leads, leads = {}, self._leads
            _end(leads)
            session.add_termination_listener(lambda _: _end(self._leads))
            self._session = session
            self._pulse = asyncio.create_task(self._feel(session))
        return self._session

    async def _feel(self, session: Session) -> None:
        """A peer that vanished without a word is found by asking."""
        while not session.is_closed():
            await asyncio.sleep(_PULSE_SECONDS)
            async with self._turn:
                try:
                    await session.fetchval("SELECT 1", timeout=_SILENCE_SECONDS)
                except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                    session.terminate()
        _end(self._leads)


def _end(leads: dict[str, Lead]) -> None:
    for lead in leads.values():
        lead.ended.set()


Body = Callable[[Lead, asyncio.Event], Awaitable[None]]


async def lead(seat: Seat, name: str, body: Body, stop: asyncio.Event) -> None:
    """Wait until this process leads `name`, then run `body` until it ends or the lead is lost."""
    held = await seat.wait(name, stop)
    if held is None:
        return
    try:
        await _while_leading(held, body, stop)
    finally:
        await seat.leave(held)


async def _while_leading(held: Lead, body: Body, stop: asyncio.Event) -> None:
    doing = asyncio.ensure_future(body(held, stop))
    ended = asyncio.ensure_future(held.ended.wait())
    try:
        await asyncio.wait((doing, ended), return_when=asyncio.FIRST_COMPLETED)
        # nats-py cancels whoever waits for a message when its connection closes: a body that
        # was cancelled by nobody here has lost its connection, and must not pass for finished.
        if not doing.done() or doing.cancelled():
            raise LostLead(held.name)
        doing.result()
    finally:
        ended.cancel()
        doing.cancel()
        await asyncio.wait((doing, ended))


async def keep(name: str, run: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
    """Run again what fails, after a growing pause, until stopped: nothing dies silently."""
    loop = asyncio.get_running_loop()
    seconds = _SHORTEST
    while not stop.is_set():
        began = loop.time()
        try:
            await run()
        except Exception as error:  # told, and begun again
            log.warning("events.runner.failed", runner=name, exc_info=error)
        seconds = _SHORTEST if loop.time() - began > _SETTLED_SECONDS else seconds
        await paused(stop, random.uniform(seconds / 2, seconds))  # noqa: S311  # only spreads
        seconds = min(seconds * 2, _LONGEST)


async def paused(stop: asyncio.Event, seconds: float) -> bool:
    """Wait, but no longer than until stopped; says whether it was."""
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
    return stop.is_set()
