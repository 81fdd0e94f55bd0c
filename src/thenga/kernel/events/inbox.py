"""The inbox: one effect per consumer and event, kept in the transaction of the effect (SEC-15)."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import cache
from uuid import UUID

from thenga.kernel.db.engine import Connection


class AlreadyTaken(Exception):  # not a failure: the effect is there already
    """This consumer has had this event; nothing more is to be done."""


@cache
def _take_text(domain: str) -> str:
    return (
        f"INSERT INTO {domain}.inbox (consumer, event_id, at) VALUES ($1, $2, $3) "
        f"ON CONFLICT DO NOTHING"
    )


def take(
    domain: str, consumer: str, event_id: UUID, now: datetime
) -> Callable[[Connection], Awaitable[None]]:
    """What a unit of work does first when it answers an event, a callback or a job."""

    async def taking(connection: Connection) -> None:
        done = await connection.execute(_take_text(domain), consumer, event_id, now)
        if done != "INSERT 0 1":
            raise AlreadyTaken(f"{consumer} {event_id}")

    return taking
