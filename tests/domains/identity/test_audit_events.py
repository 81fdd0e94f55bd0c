"""The trail: read by whose it is, read in its turn, and every change of it found."""

import random
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import orjson
import pytest

from tests.factories import accounts
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.suites.sizes import size
from thenga.domains.identity.services import audit_events
from thenga.domains.identity.services.accounts.names import account_key
from thenga.domains.identity.tables import SignedHead
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.crypto import audit_chain
from thenga.kernel.db.work import Work
from thenga.kernel.events import sealer
from thenga.kernel.events.sealer import Head
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

VECTOR_CHAIN = UUID("019a0000-0000-7000-8000-000000000001")
VECTOR = {
    "action": "identity.session.started",
    "at": "2026-11-14T08:30:00Z",
    "id": "019a0000-0000-7000-8000-0000000000a1",
    "outcome": "succeeded",
    "seq": 1,
}
GENESIS = "3d60fd906f8d843682a0e2ae47ad1b1938220f9ba5f8f62c007ff56eaa8d3169"
HASH = "fe84fd3059ca856b26fe471549a4d35c7576cc0d8f47a06585d4436d1a645650"


def asking(who: Member) -> dict[str, str]:
    return who.headers | {"X-Organization-Id": str(who.organization_id)}


def system(host: Host) -> Work:
    origin = Origin("test", request_id="test", correlation_id="test")
    return Work(host, "identity", Scope(actor=SYSTEM), origin, login="identity_system")


async def sealed(host: Host) -> None:
    async with host.engines.connection("identity", "identity_system") as connection:
        while await sealer.seal(connection, "identity"):
            pass


async def anchored(host: Host) -> None:
    await sealed(host)
    work = system(host)
    while await audit_events.anchor(work, limit=1000):
        await work.finish()
        work = system(host)
    await work.close()


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def admin(host: Host) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(host.settings.admin_database.get_secret_value())
    yield connection
    await connection.close()


@pytest.mark.rule("IDN-49")
async def test_owner_reads_the_audit_trail_and_the_read_is_audited(
    api: httpx2.AsyncClient, owner: Member
):
    first = await api.get("/identity/audit-events", headers=asking(owner))
    again = await api.get(
        "/identity/audit-events",
        params={"action": "identity:audit_event:read", "actorId": str(owner.user_id)},
        headers=asking(owner),
    )

    assert {one["chain"] for one in first.json()["items"]} == {str(owner.organization_id)}
    assert {one["target"]["type"] for one in first.json()["items"]} >= {"membership"}
    (told,) = again.json()["items"]
    assert told["actor"] == {"kind": "user", "id": str(owner.user_id)}
    assert told["network"] == "127.0.0.0/24"
    assert told["sessionId"] == str(owner.session_id)


@pytest.mark.rule("IDN-49")
async def test_everybody_reads_only_what_is_theirs(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    viewer = await people.member(host, owner.organization_id, role="viewer")
    auditor = await people.staff(host, "platform_auditor")
    path = "/identity/audit-events"

    own = await api.get(path, headers=viewer.headers)
    as_viewer = await api.get(path, headers=asking(viewer))
    of_owner = await api.get(path, params={"userId": str(owner.user_id)}, headers=viewer.headers)
    foreign = await api.get(path, params={"organizationId": str(uuid4())}, headers=asking(owner))
    by_owner = await api.get(path, params={"userId": str(owner.user_id)}, headers=asking(owner))
    by_staff = await api.get(
        path, params={"organizationId": str(owner.organization_id)}, headers=auditor.headers
    )

    assert {one["chain"] for one in own.json()["items"]} == {str(viewer.user_id)}
    assert {one["chain"] for one in as_viewer.json()["items"]} == {str(viewer.user_id)}
    assert (of_owner.status_code, foreign.status_code) == (404, 404)
    assert {one["chain"] for one in by_owner.json()["items"]} == {str(owner.user_id)}
    assert {one["chain"] for one in by_staff.json()["items"]} == {str(owner.organization_id)}
    assert "@example.test" not in own.text + by_owner.text


async def test_it_is_read_page_by_page_and_31_days_at_most(
    api: httpx2.AsyncClient, host: Host, owner: Member
):
    everything = await api.get("/identity/audit-events", headers=asking(owner))
    seen, cursor = [], None
    for _ in range(20):
        params: dict[str, Any] = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (
            await api.get("/identity/audit-events", params=params, headers=asking(owner))
        ).json()
        seen += [one["id"] for one in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    long = {"from": "2026-01-01T00:00:00Z", "to": "2026-03-01T00:00:00Z"}
    refused = await api.get("/identity/audit-events", params=long, headers=asking(owner))

    assert [one["id"] for one in everything.json()["items"]] == seen[
        -len(everything.json()["items"]) :
    ]
    assert len(seen) == len(set(seen))
    assert (refused.status_code, refused.json()["rule"]) == (422, "IDN-49")


@pytest.mark.rule("IDN-49")
async def test_refused_sign_in_is_on_the_persons_or_platform_trail(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    one = await accounts.account(host)
    unknown = f"{new_id()}@example.test"
    for email in (one.email, unknown):
        wrong = {"method": "password", "email": email, "password": "not this one at all"}
        await api.post("/identity/auth/sign-in", json=wrong)
    signed_in = await api.post("/identity/auth/sign-in", json=one.signing_in)
    bearer = {"Authorization": f"Bearer {signed_in.json()['accessToken']}"}
    auditor = await people.staff(host, "platform_auditor")
    params = {"action": "identity.sign_in.refused", "outcome": "refused"}

    mine = await api.get("/identity/audit-events", params=params, headers=bearer)
    platform = await api.get("/identity/audit-events", params=params, headers=auditor.headers)

    (told,) = mine.json()["items"]
    assert told["reasonCode"] == "sign_in_refused"
    assert told["target"]["id"] == account_key(host, one.email).hex()
    of_nobody = [each["target"]["id"] for each in platform.json()["items"]]
    assert account_key(host, unknown).hex() in of_nobody
    assert one.email not in mine.text and unknown not in platform.text


@pytest.mark.rule("IDN-50")
async def test_a_chain_is_verified_against_its_signed_end(
    api: httpx2.AsyncClient, host: Host, owner: Member, admin: asyncpg.Connection
):
    await anchored(host)
    path = "/identity/audit-events/verification"
    good = await api.get(path, headers=asking(owner))
    edit = "UPDATE identity.audit_entry SET entry = replace(entry, $2, $3) WHERE chain = $1"
    await admin.execute(edit, owner.organization_id, '"membership"', '"memberships"')
    bad = await api.get(path, headers=asking(owner))
    await admin.execute(edit, owner.organization_id, '"memberships"', '"membership"')

    told = good.json()
    assert (told["intact"], told["brokenAt"], told["firstSeq"]) == (True, None, 1)
    assert told["anchoredSeq"] == told["lastSeq"]
    assert (bad.json()["intact"], bad.json()["brokenAt"]) == (False, 2)
    assert (await api.get(path, headers=(await people.person(host)).headers)).json()["intact"]


async def test_a_forged_end_is_not_believed(host: Host, owner: Member):
    await anchored(host)
    work = system(host)
    (row,) = await work.query(
        "SELECT * FROM identity.signed_head WHERE chain = $1", owner.organization_id
    )
    signed = SignedHead.load([row[name] for name in SignedHead.__columns__])
    await work.close()

    assert audit_events.is_signed(host, signed)
    signed.seq -= 1
    assert not audit_events.is_signed(host, signed)


@pytest.mark.rule("IDN-49")
async def test_the_application_adds_to_the_trail_and_changes_nothing(host: Host, owner: Member):
    work = people.working(host, owner.organization_id)

    for text in (
        "UPDATE identity.audit_entry SET entry = '{}'",
        "DELETE FROM identity.audit_entry",
        "DELETE FROM identity.signed_head",
        "INSERT INTO identity.audit_head (chain, seq, hash) VALUES (gen_random_uuid(), 1, 'x')",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await work.run(text)
        await work.close()


def test_a_known_row_has_a_known_hash():
    assert audit_chain.genesis(VECTOR_CHAIN).hex() == GENESIS
    assert audit_chain.link(audit_chain.genesis(VECTOR_CHAIN), VECTOR).hex() == HASH


# --- tampers ------------------------------------------------------------------------------------

KINDS = ("edit", "delete", "insert", "swap", "cut", "move")
_ROWS = "identity.audit_entry WHERE chain = $1 AND seq = $2"


async def tamper(admin: asyncpg.Connection, kind: str, chain: UUID, seq: int) -> None:
    """One change by somebody who may change everything in the database."""
    if kind == "edit":
        await admin.execute(
            "UPDATE identity.audit_entry SET entry = replace(entry, '\"n\":', '\"n\":1') "
            "WHERE chain = $1 AND seq = $2",
            *(chain, seq),
        )
    elif kind == "delete":
        await admin.execute(f"DELETE FROM {_ROWS}", chain, seq)
    elif kind == "insert":
        await _shifted(admin, chain, seq)
        await admin.execute(
            "INSERT INTO identity.audit_entry (id, organization_id, chain, entry, at, seq, hash) "
            "SELECT $3, organization_id, chain, entry, at, $2::bigint, hash "
            "FROM identity.audit_entry WHERE chain = $1 AND seq = $2::bigint + 1",
            *(chain, seq, new_id()),
        )
    elif kind == "swap":
        for one, two in ((seq, -1), (seq + 1, seq), (-1, seq + 1)):
            await _placed(admin, chain, one, two)
    elif kind == "cut":
        await admin.execute(
            "DELETE FROM identity.audit_entry WHERE chain = $1 AND seq >= $2", chain, seq
        )
        await admin.execute(
            "UPDATE identity.audit_head SET seq = $2::bigint - 1, hash = (SELECT hash "
            "FROM identity.audit_entry WHERE chain = $1 AND seq = $2::bigint - 1) "
            "WHERE chain = $1",
            *(chain, seq),
        )
    else:
        await admin.execute(
            "UPDATE identity.audit_entry SET chain = $3, organization_id = NULL "
            "WHERE chain = $1 AND seq = $2",
            *(chain, seq, new_id()),
        )


async def _placed(admin: asyncpg.Connection, chain: UUID, old: int, new: int) -> None:
    await admin.execute(
        "UPDATE identity.audit_entry SET seq = $3 WHERE chain = $1 AND seq = $2", chain, old, new
    )


async def _shifted(admin: asyncpg.Connection, chain: UUID, seq: int) -> None:
    """Make room at a place; in two steps, because places are unique."""
    for change in ("seq = -seq - 1", "seq = -seq"):
        where = "seq >= $2" if change.startswith("seq = -seq - 1") else "seq < 0"
        text = f"UPDATE identity.audit_entry SET {change} WHERE chain = $1 AND {where}"
        await admin.execute(text, chain, *([seq] if where == "seq >= $2" else []))


async def filled(admin: asyncpg.Connection, host: Host, rows: int, chains: int) -> list[UUID]:
    """Rows of a trail spread over as many chains, sealed and with signed ends."""
    made = [new_id() for _ in range(chains)]
    now = host.now()
    records = []
    for number in range(rows):
        chain, identifier = made[number % chains], new_id()
        entry = {"id": str(identifier), "chain": str(chain), "at": now, "n": number}
        text = orjson.dumps(entry | {"actor": {"kind": "system"}, "outcome": "succeeded"}).decode()
        records.append((identifier, chain, text, now))
    await admin.copy_records_to_table(
        "audit_entry",
        schema_name="identity",
        columns=["id", "chain", "entry", "at"],
        records=records,
    )
    await anchored(host)
    return made


async def detected(
    admin: asyncpg.Connection, chain: UUID, kind: str, seq: int, expected: dict[UUID, Head]
) -> bool:
    """Whether a tamper is seen; it is undone afterwards."""
    undone = admin.transaction()
    await undone.start()
    await tamper(admin, kind, chain, seq)
    breaks = await sealer._verify(admin, "identity", chain, {chain: expected[chain]})
    await undone.rollback()
    return bool(breaks)


@pytest.mark.rule("IDN-50")
async def test_every_tamper_of_a_superuser_is_found(host: Host, admin: asyncpg.Connection):
    rows, tampers = size(2_000, 50_000), size(120, 1_000)
    chains = await filled(admin, host, rows, rows // 50)
    heads = await admin.fetch(
        "SELECT chain, seq, head FROM identity.signed_head WHERE chain = ANY ($1)", chains
    )
    expected = {row["chain"]: Head(row["seq"], row["head"]) for row in heads}
    chance = random.Random(25)

    clean = [c for c in chains if await sealer.verify(admin, "identity", c, expected=expected)]
    found = 0
    for number in range(tampers):
        kind = KINDS[number % len(KINDS)]
        found += await detected(admin, chance.choice(chains), kind, chance.randint(2, 49), expected)

    print(f"audit_rows={rows} tampers={tampers} detected={found} false_alarms={len(clean)}")
    await forgotten(admin, chains)
    assert (found, clean, len(expected)) == (tampers, [], len(chains))


async def test_a_planted_sealer_that_covers_too_little_is_found(
    host: Host, admin: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
):
    """Where a hash covers only the identifier of its row, an edit is not seen, and that is told."""
    await sealed(host)  # what others wrote is sealed as it should be
    link = audit_chain.link
    monkeypatch.setattr(audit_chain, "link", lambda before, row: link(before, {"id": row["id"]}))
    (chain,) = await filled(admin, host, 20, 1)
    row = await admin.fetchrow("SELECT seq, hash FROM identity.audit_head WHERE chain = $1", chain)
    expected = {chain: Head(row["seq"], row["hash"])}

    seen = {kind: await detected(admin, chain, kind, 7, expected) for kind in KINDS}

    await forgotten(admin, [chain])
    assert not seen["edit"]
    assert seen["delete"]


async def forgotten(admin: asyncpg.Connection, chains: list[UUID]) -> None:
    """What was tampered with must not trouble other tests."""
    for table in ("audit_entry", "audit_head", "signed_head"):
        await admin.execute(f"DELETE FROM identity.{table} WHERE chain = ANY ($1)", chains)


async def test_the_nightly_reading_finds_a_break(host: Host, admin: asyncpg.Connection):
    (chain,) = await filled(admin, host, 10, 1)
    before = await audit_events.verify_all(system(host))
    await tamper(admin, "edit", chain, 4)
    after = await audit_events.verify_all(system(host))

    await forgotten(admin, [chain])
    assert after > before


def test_a_span_is_31_days_at_most(host: Host):
    now = host.now()

    span = audit_events.Span.of(None, None, now)

    assert (span.since, span.until) == (now - timedelta(days=31), None)
