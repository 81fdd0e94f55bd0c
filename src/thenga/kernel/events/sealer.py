"""The sealer: gives each audit row its place in its chain, and finds what was tampered with."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import rfc8785
import structlog

from thenga.kernel.crypto import audit_chain
from thenga.kernel.db.engine import Connection, Session
from thenga.kernel.events.leadership import Lead, Seat, keep, lead, paused
from thenga.kernel.process.host import Host

STEP = 500
_PAUSE_SECONDS = 0.5

log = structlog.get_logger()


@dataclass(frozen=True)
class Head:
    """The end of a chain: how many rows it has, and the hash that covers them all."""

    seq: int
    hash: bytes


class Sealer:
    """Seals the audit rows of one domain.

    Rows get their number here and not when they are written, so a late commit leaves no hole: it
    gets a later number.
    """

    def __init__(self, host: Host, domain: str, *, seat: Seat | None = None) -> None:
        self._host = host
        self._domain = domain
        self._seat = seat

    async def run(self, stop: asyncio.Event) -> None:
        """Until stopped; whatever fails is begun again."""
        seat = self._seat or Seat(self._host, self._domain)
        name = f"sealer {self._domain}"
        try:
            await keep(name, lambda: lead(seat, name, self._seal_on, stop), stop)
        finally:
            if self._seat is None:
                await seat.close()

    async def _seal_on(self, held: Lead, stop: asyncio.Event) -> None:
        while not stop.is_set():
            async with held.session() as session:
                waits = await session.fetchval(_waiting_text(self._domain))
                sealed = await seal(session, self._domain) if waits else 0
            if sealed < STEP:
                await paused(stop, _PAUSE_SECONDS)


@cache
def _waiting_text(domain: str) -> str:
    return f"SELECT EXISTS (SELECT FROM {domain}.audit_entry WHERE seq IS NULL)"


async def seal(connection: Connection | Session, domain: str) -> int:
    """Seal one step of rows, in one transaction; gives their number."""
    async with connection.transaction():
        rows = await connection.fetch(
            f"SELECT id, organization_id, chain, entry FROM {domain}.audit_entry "
            f"WHERE seq IS NULL ORDER BY id LIMIT $1",
            STEP,
        )
        if not rows:
            return 0
        heads = await _heads(connection, domain, {row["chain"] for row in rows})
        places: list[Head] = []
        for row in rows:
            chain = row["chain"]
            before = heads.get(chain) or Head(0, audit_chain.genesis(chain))
            heads[chain] = _next(before, row["entry"])
            places.append(heads[chain])
        await connection.execute(
            f"UPDATE {domain}.audit_entry AS row SET seq = sealed.seq, hash = sealed.hash "
            f"FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS sealed(id, seq, hash) "
            f"WHERE row.id = sealed.id",
            [row["id"] for row in rows],
            [place.seq for place in places],
            [place.hash for place in places],
        )
        await connection.execute(
            f"INSERT INTO {domain}.audit_head (chain, seq, hash) "
            f"SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) "
            f"ON CONFLICT (chain) DO UPDATE SET seq = EXCLUDED.seq, hash = EXCLUDED.hash",
            list(heads),
            [head.seq for head in heads.values()],
            [head.hash for head in heads.values()],
        )
    return len(rows)


async def _heads(
    connection: Connection | Session, domain: str, chains: set[UUID]
) -> dict[UUID, Head]:
    found = await connection.fetch(
        f"SELECT chain, seq, hash FROM {domain}.audit_head WHERE chain = ANY($1) "
        f"ORDER BY chain FOR UPDATE",
        list(chains),
    )
    return {row["chain"]: Head(row["seq"], row["hash"]) for row in found}


def _next(before: Head, entry: str) -> Head:
    seq = before.seq + 1
    try:
        return Head(seq, audit_chain.link(before.hash, orjson.loads(entry) | {"seq": seq}))
    except (rfc8785.CanonicalizationError, orjson.JSONDecodeError, TypeError):
        # One row that has no canonical form must not hold up the chain: its text is sealed.
        return Head(seq, audit_chain.link(before.hash, {"seq": seq, "text": entry}))


class Tamper(StrEnum):
    """What a break looks like."""

    CHANGED = "changed"  # the row, its place or the row before it is not what was sealed
    MISSING = "missing"  # a number that no row has
    CUT = "cut"  # the chain ends before its head
    ADDED = "added"  # the chain goes on behind its head
    MISPLACED = "misplaced"  # the columns say another row, chain or holder than the entry


@dataclass(frozen=True)
class Break:
    """A place where a chain does not hold."""

    chain: UUID
    seq: int
    tamper: Tamper
    entry_id: UUID | None = None


async def verify(
    connection: Connection | Session,
    domain: str,
    chain: UUID | None = None,
    *,
    expected: Mapping[UUID, Head] | None = None,
    opening: str | None = None,
) -> list[Break]:
    """Every break of one chain or of all.

    `expected` are heads kept elsewhere; without them a tail that was cut together with its head
    in the database cannot be seen. `opening` says for whom a login without all rows reads.
    """
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        if opening is not None:
            await connection.execute(opening)
        return await _verify(connection, domain, chain, expected or {})


async def _verify(
    connection: Connection | Session, domain: str, chain: UUID | None, expected: Mapping[UUID, Head]
) -> list[Break]:
    kept = await connection.fetch(
        f"SELECT chain, seq, hash FROM {domain}.audit_head WHERE $1::uuid IS NULL OR chain = $1",
        chain,
    )
    heads = {row["chain"]: Head(row["seq"], row["hash"]) for row in kept}
    breaks: list[Break] = []
    ends: dict[UUID, Head] = {}
    async for row in _sealed(connection, domain, chain):
        ends[row["chain"]] = _check(row, ends.get(row["chain"]), breaks, heads)
    outside = {c: h for c, h in expected.items() if chain in (None, c)}
    for name in sorted(ends.keys() | heads.keys() | outside.keys()):
        end = ends.get(name) or Head(0, audit_chain.genesis(name))
        breaks.extend(_check_end(name, end, heads.get(name), outside.get(name)))
    if outside:
        breaks.extend(await _check_outside(connection, domain, outside, ends))
    return breaks


async def _sealed(
    connection: Connection | Session, domain: str, chain: UUID | None
) -> AsyncIterator[asyncpg.Record]:
    rows = connection.cursor(
        f"SELECT id, organization_id, chain, entry, seq, hash FROM {domain}.audit_entry "
        f"WHERE seq IS NOT NULL AND ($1::uuid IS NULL OR chain = $1) ORDER BY chain, seq, id",
        chain,
        prefetch=1000,
    )
    async for row in rows:
        yield row


def _check(
    row: asyncpg.Record, end: Head | None, breaks: list[Break], heads: Mapping[UUID, Head]
) -> Head:
    """Compare one row with what should follow; goes on from what is stored, so that one tamper
    does not look like as many as there are rows behind it."""
    chain, seq = row["chain"], row["seq"]
    end = end or Head(0, audit_chain.genesis(chain))
    breaks.extend(Break(chain, gap, Tamper.MISSING) for gap in range(end.seq + 1, seq))
    here = Head(seq, row["hash"])
    if _is_misplaced(row):
        breaks.append(Break(chain, seq, Tamper.MISPLACED, row["id"]))
    follows = seq == end.seq + 1
    if seq <= end.seq or (follows and _next(end, row["entry"]) != here):
        breaks.append(Break(chain, seq, Tamper.CHANGED, row["id"]))
    if seq > heads.get(chain, Head(0, b"")).seq:
        breaks.append(Break(chain, seq, Tamper.ADDED, row["id"]))
    return here


def _is_misplaced(row: asyncpg.Record) -> bool:
    try:
        entry: dict[str, Any] = orjson.loads(row["entry"])
    except orjson.JSONDecodeError:
        return False  # sealed as text, compared as text
    chain = str(row["chain"])
    return (
        entry.get("id", str(row["id"])) != str(row["id"])
        or entry.get("chain", chain) != chain
        or row["organization_id"] not in (None, row["chain"])
    )


def _check_end(chain: UUID, end: Head, head: Head | None, outside: Head | None) -> list[Break]:
    breaks = []
    if head is not None and end.seq < head.seq:
        breaks.append(Break(chain, end.seq + 1, Tamper.CUT))
    elif head is not None and end.seq == head.seq and end.hash != head.hash:
        breaks.append(Break(chain, end.seq, Tamper.CHANGED))
    if outside is not None and end.seq < outside.seq and not breaks:
        breaks.append(Break(chain, end.seq + 1, Tamper.CUT))
    return breaks


async def _check_outside(
    connection: Connection | Session,
    domain: str,
    outside: Mapping[UUID, Head],
    ends: Mapping[UUID, Head],
) -> list[Break]:
    """A chain that was sealed again from some row on holds in itself, but not with what is kept."""
    breaks = []
    for chain, head in outside.items():
        if chain not in ends or ends[chain].seq < head.seq:
            continue
        text = f"SELECT id, hash FROM {domain}.audit_entry WHERE chain = $1 AND seq = $2"
        row = await connection.fetchrow(text, chain, head.seq)
        if row is None or row["hash"] != head.hash:
            breaks.append(Break(chain, head.seq, Tamper.CHANGED, row["id"] if row else None))
    return breaks
