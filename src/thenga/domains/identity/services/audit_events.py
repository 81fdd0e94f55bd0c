"""The trail: who did what, read by whose it is, and proof that nobody changed it.

The kernel writes the rows with the change and links them (`kernel/db/audit.py`,
`kernel/events/sealer.py`). There are three kinds of chain: an organization's, a person's, and the
platform's, which has what belongs to nobody else (IDN-49).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import rfc8785
import sqlalchemy as sa
import structlog
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.identity.tables import SignedHead
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.crypto.audit_chain import Json, genesis
from thenga.kernel.db.audit import PLATFORM_CHAIN
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.read_audit import tell
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound, RuleViolated
from thenga.kernel.events import sealer
from thenga.kernel.events.sealer import Head
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

LONGEST_SPAN = timedelta(days=31)

log = structlog.get_logger()

_ENTRY = sa.table(
    "audit_entry",
    sa.column("id", pg.UUID),
    sa.column("chain", pg.UUID),
    sa.column("entry", sa.Text),
    sa.column("at", sa.DateTime(timezone=True)),
    sa.column("seq", sa.BigInteger),
    schema="identity",
)
_HEAD = sa.table(
    "audit_head",
    sa.column("chain", pg.UUID),
    sa.column("seq", sa.BigInteger),
    sa.column("hash", sa.LargeBinary),
    schema="identity",
)
_PARTS = sa.cast(_ENTRY.c.entry, pg.JSONB)
_FILTERS = {
    "actor_id": ("actor", "id"),
    "action": ("action",),
    "outcome": ("outcome",),
    "decision_id": ("decisionId",),
}


@dataclass(frozen=True)
class Seen:
    """One row of the trail, and its place once it is sealed."""

    seq: int | None
    parts: dict[str, Any]


@dataclass(frozen=True)
class Page:
    items: list[Seen]
    next_cursor: str | None


@dataclass(frozen=True)
class Span:
    """The time that is read, at most 31 days of it."""

    since: datetime
    until: datetime | None

    @classmethod
    def of(cls, since: datetime | None, until: datetime | None, now: datetime) -> "Span":
        begins = since or (until or now) - LONGEST_SPAN
        ends = until or now
        if not timedelta(0) <= ends - begins <= LONGEST_SPAN:
            raise RuleViolated(
                "Choose a period of at most 31 days, with `from` before `to`.", rule="IDN-49"
            )
        return cls(begins, until)


def chain_of(read: Reader, organization_id: UUID | None, user_id: UUID | None) -> UUID:
    """Whose trail is read: the one named, if it is the caller's to read, else its own."""
    if read.held_as == HeldAs.PLATFORM:
        return organization_id or user_id or PLATFORM_CHAIN
    own = read.actor.id
    if read.held_as == HeldAs.TENANT:
        if organization_id not in (None, read.organization_id):
            raise NotFound()
        if organization_id is None and user_id is not None and user_id == own:
            return user_id
        return read.organization_id
    if organization_id is not None or user_id not in (None, own):
        raise NotFound()
    return read.user_id


async def list_events(
    read: Reader, paged: Paged, chain: UUID, span: Span, *, filters: dict[str, Any]
) -> Page:
    """One page of a trail; that it was read is told in the same trail (IDN-49)."""
    statement = sa.select(_ENTRY.c.id, _ENTRY.c.at, _ENTRY.c.seq, _ENTRY.c.entry).where(
        _ENTRY.c.chain == chain, _ENTRY.c.at >= span.since
    )
    if span.until is not None:
        statement = statement.where(_ENTRY.c.at < span.until)
    for name, path in _FILTERS.items():
        if filters.get(name) is not None:
            statement = statement.where(_PARTS[path].astext == str(filters[name]))
    rows, after = await read.page_records(statement, paged, (_ENTRY.c.at, _ENTRY.c.id))
    await tell(read, "identity:audit_event:read", ("audit_chain", chain), _told(span, filters))
    return Page([Seen(row["seq"], orjson.loads(row["entry"])) for row in rows], after)


def _told(span: Span, filters: dict[str, Any]) -> dict[str, Any]:
    asked = {name: str(value) for name, value in filters.items() if value is not None}
    return {"from": span.since, "to": span.until, "filters": asked}


# --- proof --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verified:
    """What a chain looks like from its first row to its last."""

    chain: UUID
    first_seq: int | None
    last_seq: int
    head: str
    anchored_at: datetime | None
    anchored_seq: int | None
    intact: bool
    broken_at: int | None


async def verify(read: Reader, chain: UUID) -> Verified:
    """Read a chain whole and compare it with the last end that we signed (IDN-50)."""
    signed = await _last_signed(read, chain)
    expected = {} if signed is None else {chain: Head(signed.seq, signed.head)}
    forged = signed is not None and not is_signed(read.host, signed)
    first, head = await _ends(read, chain)
    opening = read._scope.opening()
    async with read.host.engines.connection("identity", "identity") as connection:
        breaks = await sealer.verify(
            connection, "identity", chain, expected=expected, opening=opening
        )
    await tell(read, "identity:audit_event:verify", ("audit_chain", chain), {})
    at = min((one.seq for one in breaks), default=signed.seq if forged and signed else None)
    return Verified(
        chain=chain,
        first_seq=first,
        last_seq=head.seq,
        head=head.hash.hex(),
        anchored_at=None if signed is None else signed.signed_at,
        anchored_seq=None if signed is None else signed.seq,
        intact=not breaks and not forged,
        broken_at=at,
    )


async def _last_signed(read: Reader, chain: UUID) -> SignedHead | None:
    statement = sa.select(SignedHead).where(SignedHead.chain == chain)
    rows: list[Any] = await read.all(statement.order_by(SignedHead.seq.desc()), limit=1)
    return rows[0] if rows else None


async def _ends(read: Reader, chain: UUID) -> tuple[int | None, Head]:
    first = await read.value(sa.select(sa.func.min(_ENTRY.c.seq)).where(_ENTRY.c.chain == chain))
    rows = await read.records(
        sa.select(_HEAD.c.seq, _HEAD.c.hash).where(_HEAD.c.chain == chain).limit(1)
    )
    head = Head(rows[0]["seq"], rows[0]["hash"]) if rows else Head(0, genesis(chain))
    return first, head


_GROWN = """
    SELECT h.chain, h.seq, h.hash FROM identity.audit_head h
    WHERE NOT EXISTS (SELECT 1 FROM identity.signed_head s
                      WHERE s.chain = h.chain AND s.seq = h.seq)
    ORDER BY h.chain LIMIT $1
"""


async def anchor(work: Work, *, limit: int) -> int:
    """Sign the end of every chain that grew; gives their number.

    The signed ends stay in the database. Somebody who can delete them and cut the same tail is
    found only by a copy elsewhere (docs/decisions/0035).
    """
    grown = await work.query(_GROWN, limit)
    for row in grown:
        head = Head(row["seq"], row["hash"])
        await work.add(
            SignedHead(
                id=new_id(),
                chain=row["chain"],
                seq=head.seq,
                head=head.hash,
                signed_at=work.now,
                signature=_signer(work.host).sign(_message(row["chain"], head, work.now)),
            )
        )
    return len(grown)


def is_signed(host: Host, signed: SignedHead) -> bool:
    """Whether we signed this end of this chain at this moment."""
    message = _message(signed.chain, Head(signed.seq, signed.head), signed.signed_at)
    try:
        _signer(host).public_key().verify(signed.signature, message)
    except InvalidSignature:
        return False
    return True


def _signer(host: Host) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(host.key("audit-heads"))


def _message(chain: UUID, head: Head, at: datetime) -> bytes:
    parts: dict[str, Json] = {
        "chain": str(chain),
        "seq": head.seq,
        "hash": head.hash.hex(),
        "at": at.isoformat(),
    }
    return rfc8785.dumps(parts)


async def verify_all(work: Work) -> int:
    """Read every chain against its last signed end; gives the number of breaks, each an alarm."""
    text = (
        "SELECT DISTINCT ON (chain) * FROM identity.signed_head ORDER BY chain, seq DESC LIMIT $1"
    )
    signed = [
        SignedHead.load([row[n] for n in SignedHead.__columns__])
        for row in await work.query(text, 1_000_000)
    ]
    forged = [one for one in signed if not is_signed(work.host, one)]
    expected = {one.chain: Head(one.seq, one.head) for one in signed}
    async with work.host.engines.connection("identity", "identity_system") as connection:
        breaks = await sealer.verify(connection, "identity", expected=expected)
    for one in breaks:
        log.error("identity.audit.broken", chain=str(one.chain), seq=one.seq, tamper=one.tamper)
    for head in forged:
        log.error("identity.audit.forged_head", chain=str(head.chain), seq=head.seq)
    return len(breaks) + len(forged)
