"""Idempotency keys: the key row is inserted first and commits with the effect."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from thenga.kernel.crypto import sealing
from thenga.kernel.db.engine import Connection
from thenga.kernel.errors import IdempotencyInProgress, IdempotencyKeyReused

KEPT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Key:
    """A key as stored: a hash of actor, tenant, method, path and key, and a keyed body hash."""

    hash: bytes
    body_mac: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered again to whoever repeats the key."""

    status: int
    headers: dict[str, str]
    body: bytes


class Replay(Exception):  # not a failure: the first answer, found again
    """The effect was made before; this is its answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__("answered before")
        self.answer = answer


@cache
def _texts(domain: str) -> tuple[str, str, str]:
    return (
        # Whoever holds the lock is the one that runs; a second caller learns it at once instead
        # of waiting for the first one's commit.
        f"""INSERT INTO {domain}.idempotency (hash, body_mac, created_at)
            SELECT $1, $2, $3 WHERE pg_try_advisory_xact_lock($4)
            ON CONFLICT DO NOTHING""",
        f"""SELECT body_mac, status, headers, body, created_at
            FROM {domain}.idempotency WHERE hash = $1""",
        f"""UPDATE {domain}.idempotency SET body_mac = $2, created_at = $3, status = NULL,
            headers = NULL, body = NULL WHERE hash = $1 AND created_at < $4""",
    )


async def claim(connection: Connection, domain: str, key: Key, now: datetime) -> None:
    """Be the one who makes the effect, or raise what the caller is told instead."""
    insert, select, renew = _texts(domain)
    number = int.from_bytes(key.hash[:8], "big", signed=True)
    if await connection.execute(insert, key.hash, key.body_mac, now, number) == "INSERT 0 1":
        return
    found = await connection.fetchrow(select, key.hash)
    if found is None or found["status"] is None:
        raise IdempotencyInProgress(headers={"Retry-After": "1"})
    if found["created_at"] < now - KEPT:
        if await connection.execute(renew, key.hash, key.body_mac, now, now - KEPT) == "UPDATE 1":
            return
        raise IdempotencyInProgress(headers={"Retry-After": "1"})
    if not sealing.equal(found["body_mac"], key.body_mac):
        raise IdempotencyKeyReused()
    raise Replay(Answer(found["status"], found["headers"], found["body"]))
