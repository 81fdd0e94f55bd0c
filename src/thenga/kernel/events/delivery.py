"""One reaction to one event: a unit of work of its own, kept once, retried, parked at last."""

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import asyncpg
import structlog

from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.sandbox import clock_offset
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.declare.reaction import Reaction
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.events.inbox import AlreadyTaken, take
from thenga.kernel.events.leadership import paused
from thenga.kernel.process import logs
from thenga.kernel.process.host import Host

MOST_FAILURES = 10
_SHORTEST, _LONGEST = 0.2, 60.0
_TOUCH_AFTER = timedelta(days=1)

log = structlog.get_logger()


class Stopped(Exception):
    """The process is ending; the event is left for the next leader."""


class Taking:
    """How one domain takes events."""

    def __init__(self, host: Host, domain: str) -> None:
        self._host = host
        self._domain = domain

    async def settle(
        self,
        reaction: Reaction,
        envelope: Envelope,
        text: str,
        slots: asyncio.Semaphore,
        stop: asyncio.Event,
    ) -> None:
        """Until the effect is there or the event is parked; what comes behind it waits."""
        failures, tries = 0, 0
        while True:
            if stop.is_set():
                raise Stopped
            async with slots:
                error = await self._attempt(reaction, envelope)
            if error is None:
                return
            if is_outage(error):
                raise error  # of the database: no fault of the event, everything begins again
            # Nor is the silence of another domain: that is waited for, however long.
            failures += not isinstance(error, DependencyUnavailable)
            if failures >= MOST_FAILURES:
                await self._park(reaction, envelope, text, error)
                return
            tries += 1
            self._tell(reaction, envelope, error, tries)
            longest = min(_SHORTEST * 2**tries, _LONGEST)
            await paused(stop, random.uniform(longest / 2, longest))  # noqa: S311  # only spreads

    async def done_already(
        self, names: Sequence[str], event_ids: Sequence[UUID]
    ) -> set[tuple[str, UUID]]:
        """Which reactions have had which events, or had them parked."""
        now = self._host.now()
        async with self._host.engines.connection(
            self._domain, f"{self._domain}_system"
        ) as connection:
            found = await connection.fetch(
                f"SELECT consumer, event_id, at FROM {self._domain}.inbox "
                f"WHERE consumer = ANY($1) AND event_id = ANY($2) UNION ALL "
                f"SELECT consumer, event_id, $3::timestamptz FROM {self._domain}.parked_event "
                f"WHERE consumer = ANY($1) AND event_id = ANY($2)",
                names,
                event_ids,
                now,
            )
            if any(now - row["at"] > _TOUCH_AFTER for row in found):
                # What was told again may be told again later still: its row must outlive that.
                await connection.execute(
                    f"UPDATE {self._domain}.inbox SET at = $3 "
                    f"WHERE consumer = ANY($1) AND event_id = ANY($2)",
                    names,
                    event_ids,
                    now,
                )
        return {(row["consumer"], row["event_id"]) for row in found}

    async def _attempt(self, reaction: Reaction, envelope: Envelope) -> Exception | None:
        marks = (
            logs.request_id.set(envelope.correlationid or str(envelope.id)),
            logs.traceparent.set(envelope.traceparent),
        )
        try:
            async with asyncio.timeout(self._host.settings.request_seconds):
                await self._react(reaction, envelope)
        except AlreadyTaken:
            return None
        except Exception as error:  # noqa: BLE001  # the caller counts, tells and parks
            return error
        finally:
            logs.request_id.reset(marks[0])
            logs.traceparent.reset(marks[1])
        return None

    async def _react(self, reaction: Reaction, envelope: Envelope) -> None:
        organization_id = envelope.organizationid
        ahead = await clock_offset(self._host, self._domain, organization_id)
        correlation = envelope.correlationid or str(envelope.id)
        work = Work(
            self._host,
            self._domain,
            Scope(actor=SYSTEM, organization_id=organization_id, clock_offset=ahead),
            Origin(
                action=f"{self._domain}.{reaction.name}",
                request_id=correlation,
                correlation_id=correlation,
                causation_id=str(envelope.id),
                traceparent=envelope.traceparent,
            ),
        )
        work.envelope = envelope
        work.first = take(self._domain, reaction.name, envelope.id, self._host.now())
        try:
            await reaction.handle(work, envelope)
            await work.finish()
        finally:
            await work.close()

    async def _park(
        self, reaction: Reaction, envelope: Envelope, text: str, error: Exception
    ) -> None:
        async with self._host.engines.connection(
            self._domain, f"{self._domain}_system"
        ) as connection:
            await connection.execute(
                f"INSERT INTO {self._domain}.parked_event "
                f"(consumer, event_id, organization_id, envelope, error, at) "
                f"VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
                reaction.name,
                envelope.id,
                envelope.organizationid,
                text,
                type(error).__qualname__,
                self._host.now(),
            )
        log.error(
            "events.reaction.parked",
            domain=self._domain,
            reaction=reaction.name,
            event_id=envelope.id,
            event_type=envelope.type,
            exc_info=error,
        )

    def _tell(self, reaction: Reaction, envelope: Envelope, error: Exception, tries: int) -> None:
        log.warning(
            "events.reaction.failed",
            domain=self._domain,
            reaction=reaction.name,
            event_id=envelope.id,
            event_type=envelope.type,
            tries=tries,
            exc_info=error,
        )


def is_outage(error: Exception) -> bool:
    """Whether the database was away, rather than unwilling."""
    if isinstance(error, TimeoutError):
        return False
    return isinstance(
        error,
        (
            OSError,
            asyncpg.PostgresConnectionError,
            asyncpg.OperatorInterventionError,
            asyncpg.InsufficientResourcesError,
        ),
    ) and not isinstance(error, asyncpg.QueryCanceledError)
