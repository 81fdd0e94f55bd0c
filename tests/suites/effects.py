"""What calls leave behind, counted in the database: rows, versions, events, audit rows, jobs."""

from collections import Counter
from collections.abc import Sequence

import asyncpg
from asyncpg.prepared_stmt import PreparedStatement

_TABLES = """
    SELECT format('%I.%I', n.nspname, c.relname) AS name, EXISTS (
        SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'version'
    ) AS versioned
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1) AND c.relkind = 'r' AND c.relname <> ALL ($2)
"""
# Keys themselves, and what is noted of every asking, whether or not anything was done.
_OF_ASKING = (
    "use_note",
    "idempotency",
    *("decision_record", "personal_decision", "platform_decision"),
    *("decision_tally", "platform_tally"),
    "entitlement_signal",  # what Billing answered the gate, kept for a minute (IDN-32)
)


class Ledger:
    """Counts every table of some schemas, but what is noted of asking."""

    def __init__(self, counting: PreparedStatement) -> None:
        self._counting = counting

    @classmethod
    async def of(cls, connection: asyncpg.Connection, schemas: Sequence[str]) -> "Ledger":
        tables = await connection.fetch(_TABLES, schemas, _OF_ASKING)
        changes = {True: "coalesce(sum(version), 0)::bigint", False: "0::bigint"}
        counts = [
            f"SELECT '{name}', count(*), {changes[versioned]} FROM {name}"
            for name, versioned in tables
        ]
        # Compiling and planning a statement over all tables takes far longer than running it, and
        # asyncpg keeps no plan of a text as long as this one.
        await connection.execute("SET jit = off; SET max_parallel_workers_per_gather = 0")
        return cls(await connection.prepare(" UNION ALL ".join(counts)))

    async def counted(self) -> Counter[str]:
        """How many rows there are in all, and how often they were changed."""
        found: Counter[str] = Counter()
        for name, rows, versions in await self._counting.fetch():
            found[name] = rows
            found[f"{name} versions"] = int(versions)
        return found
