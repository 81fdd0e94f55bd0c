"""What a unit of work leaves behind besides its rows, written in one round trip (SEC-11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING
from uuid import UUID

import orjson

from thenga.kernel.db.audit import Entry
from thenga.kernel.db.engine import Connection
from thenga.kernel.db.idempotency import Answer, Key

if TYPE_CHECKING:
    from thenga.kernel.declare.job import Enqueued


@dataclass(slots=True)
class OutboxRow:
    """One outbox row on its way into the database."""

    id: UUID
    organization_id: UUID | None
    mesh_subject: str
    aggregate: str
    envelope: str
    created_at: datetime


@cache
def _flush_text(domain: str) -> str:
    return f"""
        WITH audited AS (
            INSERT INTO {domain}.audit_entry (id, organization_id, chain, entry, at)
            SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[])
        ), kept AS (
            UPDATE {domain}.idempotency SET status = $6, headers = $7, body = $8 WHERE hash = $9
        )
        INSERT INTO {domain}.outbox
            (id, organization_id, mesh_subject, aggregate, envelope, created_at)
        SELECT * FROM unnest($10::uuid[], $11::uuid[], $12::text[], $13::text[], $14::text[],
                             $15::timestamptz[])
    """  # the domain's name is a constant of ours


async def flush(
    connection: Connection,
    domain: str,
    told: Sequence[OutboxRow],
    audited: Sequence[Entry],
    key: Key | None,
    answer: Answer | None,
) -> None:
    """Audit rows, the kept answer and outbox rows, in one statement."""
    if not told and not audited and key is None:
        return
    await connection.execute(
        _flush_text(domain),
        [e.id for e in audited],
        [e.organization_id for e in audited],
        [e.chain for e in audited],
        [e.text for e in audited],
        [e.at for e in audited],
        answer.status if answer else None,
        answer.headers if answer else None,
        answer.body if answer else None,
        key.hash if key and answer else None,
        [t.id for t in told],
        [t.organization_id for t in told],
        [t.mesh_subject for t in told],
        [t.aggregate for t in told],
        [t.envelope for t in told],
        [t.created_at for t in told],
    )


@cache
def _jobs_text(domain: str) -> str:
    return f"""
        INSERT INTO {domain}.procrastinate_jobs
            (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at)
        SELECT queue, task, priority, lock, queueing_lock, args::jsonb, scheduled_at
        FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::text[],
                    $7::timestamptz[])
            AS job(queue, task, priority, lock, queueing_lock, args, scheduled_at)
        ON CONFLICT DO NOTHING
    """  # the domain's name is a constant of ours


async def enqueue(connection: Connection, domain: str, jobs: Sequence["Enqueued"]) -> None:
    """Enqueue jobs; one that waits already under the same key is enough."""
    await connection.execute(
        _jobs_text(domain),
        [j.queue for j in jobs],
        [j.task for j in jobs],
        [j.priority for j in jobs],
        [j.lock for j in jobs],
        [j.key for j in jobs],
        [orjson.dumps(j.arguments).decode() for j in jobs],
        [j.after for j in jobs],
    )
