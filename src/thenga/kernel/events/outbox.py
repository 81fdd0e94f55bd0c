"""What the relay asks of the outbox; every statement runs in the session that holds the lead."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import asyncpg

from thenga.kernel.db.engine import Session

_STATE = "stream"
_RESET_STEP = 5000
_PURGE_STEP = 1000


class Outbox:
    """The outbox of one domain."""

    def __init__(self, domain: str) -> None:
        self._domain = domain

    async def waiting(self, session: Session, limit: int) -> Sequence[asyncpg.Record]:
        """What is not yet published, in the order in which it is to stand in the stream (SEC-12).

        A change holds its row until it commits, so of one aggregate the positions follow the
        commits; of different ones a late commit may stand before what is out already.
        """
        return await session.fetch(
            f"SELECT id, mesh_subject, envelope FROM {self._domain}.outbox "
            f"WHERE published_at IS NULL ORDER BY position LIMIT $1",
            limit,
        )

    async def mark(self, session: Session, sequences: Mapping[UUID, int], now: datetime) -> None:
        """Remember where each event stands in the stream."""
        await session.execute(
            f"UPDATE {self._domain}.outbox AS row "
            f"SET published_at = $1, stream_sequence = sent.sequence "
            f"FROM unnest($2::uuid[], $3::bigint[]) AS sent(id, sequence) WHERE row.id = sent.id",
            now,
            list(sequences),
            list(sequences.values()),
        )

    async def furthest(self, session: Session) -> int:
        """The highest place in the stream that the outbox knows of."""
        found: int | None = await session.fetchval(
            f"SELECT max(stream_sequence) FROM {self._domain}.outbox WHERE published_at IS NOT NULL"
        )
        return found or 0

    async def forget_after(self, session: Session, sequence: int) -> int:
        """Have everything published again that stood behind a place in the stream."""
        forgotten = 0
        while True:
            done = await session.execute(
                f"UPDATE {self._domain}.outbox SET published_at = NULL, stream_sequence = NULL "
                f"WHERE id IN (SELECT id FROM {self._domain}.outbox "
                f"WHERE published_at IS NOT NULL AND stream_sequence > $1 LIMIT $2)",
                sequence,
                _RESET_STEP,
            )
            count = int(done.split()[-1])
            forgotten += count
            if count < _RESET_STEP:
                return forgotten

    async def epoch(self, session: Session) -> str | None:
        """Which stream the places in the outbox are about."""
        found: str | None = await session.fetchval(
            f"SELECT epoch FROM {self._domain}.relay_state WHERE id = $1",
            _STATE,
        )
        return found

    async def set_epoch(self, session: Session, epoch: str) -> None:
        await session.execute(
            f"INSERT INTO {self._domain}.relay_state (id, epoch) VALUES ($1, $2) "
            f"ON CONFLICT (id) DO UPDATE SET epoch = EXCLUDED.epoch",
            _STATE,
            epoch,
        )

    async def purge(
        self,
        session: Session,
        *,
        sent_before: datetime,
        taken_before: datetime,
        keyed_before: datetime,
    ) -> bool:
        """Take one step of old rows away; says whether there may be more."""
        full = False
        for table, column, before in (
            ("outbox", "published_at", sent_before),
            ("inbox", "at", taken_before),
            ("idempotency", "created_at", keyed_before),
        ):
            name = f"{self._domain}.{table}"
            done = await session.execute(
                f"DELETE FROM {name} WHERE ctid = ANY(ARRAY("
                f"SELECT ctid FROM {name} WHERE {column} < $1 LIMIT $2))",
                before,
                _PURGE_STEP,
            )
            full = full or int(done.split()[-1]) == _PURGE_STEP
        return full
