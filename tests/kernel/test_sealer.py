import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg
import orjson
import pytest

from tests.conftest import Opening
from tests.kernel.running import make_things, running, until
from thenga.kernel.db.engine import Session
from thenga.kernel.events.sealer import Head, Sealer, Tamper, seal, verify
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

pytestmark = pytest.mark.no_retry

VECTOR_CHAIN = UUID("019a0000-0000-7000-8000-000000000001")
VECTOR = {
    "action": "identity.session.started",
    "at": "2026-11-14T08:30:00Z",
    "id": "019a0000-0000-7000-8000-0000000000a1",
    "outcome": "succeeded",
}
VECTOR_HASH = "fe84fd3059ca856b26fe471549a4d35c7576cc0d8f47a06585d4436d1a645650"


@asynccontextmanager
async def superuser(host: Host) -> AsyncIterator[Session]:
    connection = await asyncpg.connect(host.settings.admin_database.get_secret_value())
    try:
        yield connection
    finally:
        await connection.close()


async def write(host: Host, chain: UUID, entries: list[dict[str, object]]) -> None:
    async with host.engines.connection("probe", "probe_system") as connection:
        await connection.executemany(
            "INSERT INTO probe.audit_entry (id, chain, entry, at) VALUES ($1, $2, $3, now())",
            [(UUID(str(e["id"])), chain, orjson.dumps(e).decode()) for e in entries],
        )


async def fill(host: Host, chain: UUID, count: int) -> None:
    await write(
        host,
        chain,
        [
            {"id": str(new_id()), "chain": str(chain), "n": n, "who": "somebody"}
            for n in range(count)
        ],
    )


async def seal_all(host: Host) -> int:
    sealed = 0
    async with host.engines.connection("probe", "probe_system") as connection:
        while step := await seal(connection, "probe"):
            sealed += step
    return sealed


@pytest.mark.rule("IDN-50")
async def test_a_known_row_is_sealed_with_a_known_hash(host: Host):
    await write(host, VECTOR_CHAIN, [VECTOR])
    await seal_all(host)
    async with host.engines.connection("probe", "probe_system") as connection:
        text = "SELECT seq, hash FROM probe.audit_entry WHERE chain = $1"
        row = await connection.fetchrow(text, VECTOR_CHAIN)
        assert (row["seq"], row["hash"].hex()) == (1, VECTOR_HASH)
        assert await verify(connection, "probe", VECTOR_CHAIN) == []


async def test_the_rows_of_real_changes_are_sealed(host: Host, opening: Opening):
    organization_id = new_id()
    await make_things(opening, organization_id, 30)

    async def is_sealed() -> bool:
        async with host.engines.connection("probe", "probe_system") as connection:
            text = "SELECT count(*) FROM probe.audit_entry WHERE seq IS NULL"
            return await connection.fetchval(text) == 0

    async with running(Sealer(host, "probe"), Sealer(host, "probe")):
        await asyncio.gather(*(make_things(opening, organization_id, 20) for _ in range(4)))
        await until(is_sealed)
    async with host.engines.connection("probe", "probe_system") as connection:
        text = "SELECT seq FROM probe.audit_entry WHERE chain = $1 ORDER BY seq"
        found = [row["seq"] for row in await connection.fetch(text, organization_id)]
        assert found == list(range(1, 111))
        assert await verify(connection, "probe", organization_id) == []


async def test_a_late_commit_gets_a_later_number(host: Host):
    chain, early = new_id(), {"id": str(new_id()), "n": 1}
    await asyncio.sleep(0.01)
    await fill(host, chain, 3)
    await seal_all(host)
    await write(host, chain, [early])
    await seal_all(host)
    async with host.engines.connection("probe", "probe_system") as connection:
        text = "SELECT seq FROM probe.audit_entry WHERE id = $1"
        assert await connection.fetchval(text, UUID(str(early["id"]))) == 4
        assert await verify(connection, "probe", chain) == []


async def test_a_row_without_a_canonical_form_is_sealed_as_text(host: Host):
    chain = new_id()
    await write(host, chain, [{"id": str(new_id()), "n": 2**60}])
    await seal_all(host)
    async with superuser(host) as connection:
        assert await verify(connection, "probe", chain) == []
        text = "UPDATE probe.audit_entry SET entry = replace(entry, '6', '7') WHERE chain = $1"
        await connection.execute(text, chain)
        assert await verify(connection, "probe", chain) != []
        await connection.execute("DELETE FROM probe.audit_entry WHERE chain = $1", chain)
        await connection.execute("DELETE FROM probe.audit_head WHERE chain = $1", chain)


EDIT = "UPDATE probe.audit_entry SET entry = replace(entry, 'somebody', 'nobody') {here}"
DELETE = "DELETE FROM probe.audit_entry {here}"
MOVE = "UPDATE probe.audit_entry SET chain = $3 {here}"
HIDE = "UPDATE probe.audit_entry SET organization_id = $3 {here}"
HERE = "WHERE chain = $1 AND seq = $2"


async def tamper(connection: Session, kind: str, chain: UUID, seq: int, other: UUID) -> None:
    if kind == "edit":
        await connection.execute(EDIT.format(here=HERE), chain, seq)
    elif kind == "delete":
        await connection.execute(DELETE.format(here=HERE), chain, seq)
    elif kind == "move":
        await connection.execute(MOVE.format(here=HERE), chain, seq, other)
    elif kind == "hide":
        await connection.execute(HIDE.format(here=HERE), chain, seq, other)
    elif kind == "swap":
        for one, two in ((seq, -1), (seq + 1, seq), (-1, seq + 1)):
            text = "UPDATE probe.audit_entry SET seq = $3 WHERE chain = $1 AND seq = $2"
            await connection.execute(text, chain, one, two)
    elif kind == "insert":
        text = "UPDATE probe.audit_entry SET seq = $3 WHERE chain = $1 AND seq = $2"
        last = await connection.fetchval(
            "SELECT max(seq) FROM probe.audit_entry WHERE chain = $1", chain
        )
        for place in range(last, seq - 1, -1):
            await connection.execute(text, chain, place, place + 1)
        await connection.execute(
            "INSERT INTO probe.audit_entry (id, chain, entry, at, seq, hash) "
            "SELECT $3, chain, entry, at, $2::bigint, hash FROM probe.audit_entry "
            "WHERE chain = $1 AND seq = $2::bigint + 1",
            *(chain, seq, new_id()),
        )
    else:  # cut, with the head in the database made to fit
        await connection.execute(
            "DELETE FROM probe.audit_entry WHERE chain = $1 AND seq >= $2", chain, seq
        )
        await connection.execute(
            "UPDATE probe.audit_head SET seq = $2::bigint - 1, "
            "hash = (SELECT hash FROM probe.audit_entry "
            "WHERE chain = $1 AND seq = $2::bigint - 1) WHERE chain = $1",
            *(chain, seq),
        )


@pytest.mark.rule("IDN-50")
async def test_every_tamper_is_found(host: Host):
    chains = [new_id() for _ in range(100)]
    for chain in chains:
        await fill(host, chain, 20)
    began = time.perf_counter()
    sealed = await seal_all(host)
    speed = sealed / (time.perf_counter() - began)
    kinds = ("edit", "delete", "move", "hide", "swap", "insert", "cut")
    chance = random.Random(7)
    async with superuser(host) as connection:
        heads = await connection.fetch("SELECT chain, seq, hash FROM probe.audit_head")
        expected = {row["chain"]: Head(row["seq"], row["hash"]) for row in heads}
        assert await verify(connection, "probe", expected=expected) == []
        found = 0
        for number, chain in enumerate(chains):
            kind = kinds[number % len(kinds)]
            await tamper(connection, kind, chain, chance.randint(2, 18), new_id())
            breaks = await verify(connection, "probe", chain, expected=expected)
            found += bool(breaks)
            assert breaks, kind
            assert len(breaks) <= 25, (kind, breaks)
        began = time.perf_counter()
        broken = {b.chain for b in await verify(connection, "probe", expected=expected)}
        took = time.perf_counter() - began
        assert set(chains) <= broken
        assert any(
            b.tamper is Tamper.CUT
            for b in await verify(connection, "probe", chains[6], expected=expected)
        )
        # What was tampered with must not trouble other tests.
        await connection.execute("DELETE FROM probe.audit_entry WHERE chain = ANY($1)", chains)
        await connection.execute("DELETE FROM probe.audit_head WHERE chain = ANY($1)", chains)
    print(
        f"\naudit rows=2000 tampers=100 detected={found} sealed_per_second={speed:.0f} "
        f"verify_seconds={took:.2f}"
    )
    assert found == 100


async def test_a_chain_sealed_again_does_not_pass(host: Host):
    """Whoever can write everything can make a chain that holds; the heads kept elsewhere tell."""
    chain = new_id()
    await fill(host, chain, 10)
    await seal_all(host)
    async with superuser(host) as connection:
        text = "SELECT seq, hash FROM probe.audit_head WHERE chain = $1"
        row = await connection.fetchrow(text, chain)
        kept = {chain: Head(row["seq"], row["hash"])}
        await connection.execute(EDIT.format(here="WHERE chain = $1 AND seq = 4"), chain)
        await connection.execute(
            "UPDATE probe.audit_entry SET seq = NULL, hash = NULL WHERE chain = $1", chain
        )
        await connection.execute("DELETE FROM probe.audit_head WHERE chain = $1", chain)
        await seal_all(host)
        assert await verify(connection, "probe", chain) == []
        assert await verify(connection, "probe", chain, expected=kept) != []
