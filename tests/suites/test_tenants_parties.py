"""Rows of two parties, public notices and paid rows: each side sees its own, strangers nothing.

Owner, counterparty, stranger, two people and nobody read every row in every way that `Reader`
has, and try to change it.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
import psycopg
import pytest
from sqlalchemy import select

from tests.parties import (
    MIGRATIONS,
    Course,
    Note,
    Offer,
    OfferChanged,
    OfferWithdrawn,
    Remark,
    Tender,
)
from tests.suites import tables
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Row, rows
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope
from thenga.kernel.errors import NotFound
from thenga.kernel.events.consumer import is_of
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id

pytestmark = pytest.mark.no_retry

TABLES: tuple[type[Any], ...] = (Offer, Note, Tender, Remark, Course)
_PREPARED = {table: select(table) for table in TABLES}


@dataclass(frozen=True)
class Who:
    """For whom a unit of work is opened."""

    name: str
    organization_id: UUID | None = None
    user_id: UUID | None = None


@dataclass
class Scene:
    """Who is there, and what was made: each row by the text that it holds."""

    host: Host
    everybody: dict[str, Who]
    made: dict[str, Any]

    def _opened(self, unit: type[Any], who: Who, login: str | None) -> Any:
        scope = Scope(SYSTEM, organization_id=who.organization_id, user_id=who.user_id)
        return unit(self.host, "parties", scope, Origin("test", "test", "test"), login=login)

    @asynccontextmanager
    async def reading(self, who: Who, login: str | None = None) -> AsyncIterator[Reader]:
        reader = self._opened(Reader, who, login)
        try:
            yield reader
        finally:
            await reader.close()

    @asynccontextmanager
    async def working(self, who: Who) -> AsyncIterator[Work]:
        work = self._opened(Work, who, None)
        try:
            yield work
        finally:
            await work.close()


# What each may read, and of that what each may change.
READS = {
    "owner": {"offer", "own offer", "note of owner", "shared", "hidden", "paid course"},
    "counterparty": {"offer", "note of counterparty", "shared", "remark"},
    "stranger": {"shared"},
    "learner": {"shared", "paid course", "own course"},
    "other learner": {"shared"},
    "nobody": {"shared"},
}
WRITES = {name: seen - {"shared"} for name, seen in READS.items()}
WRITES["owner"] |= {"shared"}


@pytest.fixture(scope="module")
async def scene(settings: Settings, host: Host) -> Scene:
    migrate(settings, [Migrated("parties", MIGRATIONS)])
    owner, counterparty, learner = new_id(), new_id(), new_id()
    everybody = [
        Who("owner", owner),
        Who("counterparty", counterparty),
        Who("stranger", new_id()),
        Who("learner", user_id=learner),
        Who("other learner", user_id=new_id()),
        Who("nobody"),
    ]
    scene = Scene(host, {who.name: who for who in everybody}, {})

    async def add(who: str, row: Any) -> Any:
        async with scene.working(scene.everybody[who]) as work:
            scene.made[row.text] = await work.add(row)
            await work.finish()
        return row

    both = {"organization_id": owner, "counterparty_id": counterparty}
    offer = await add("owner", Offer(**both, text="offer"))
    await add("owner", Offer(organization_id=owner, text="own offer"))
    await add("owner", Note(organization_id=owner, offer_id=offer.id, text="note of owner"))
    theirs = Note(organization_id=counterparty, offer_id=offer.id, text="note of counterparty")
    await add("counterparty", theirs)
    tender = await add("owner", Tender(organization_id=owner, shared=True, text="shared"))
    await add("owner", Tender(organization_id=owner, text="hidden"))
    remark = Remark(organization_id=counterparty, tender_id=tender.id, text="remark")
    await add("counterparty", remark)
    await add("learner", Course(user_id=learner, organization_id=owner, text="paid course"))
    await add("learner", Course(user_id=learner, text="own course"))
    return scene


async def _got(read: Reader, row: Any) -> str | None:
    try:
        return (await read.get(type(row), row.id)).text  # type: ignore[no-any-return]
    except (NotFound, LookupError):  # also where the kind asks for a holder that is not there
        return None


async def seen(scene: Scene, who: Who, login: str | None = None) -> dict[str, set[str]]:
    """The texts that somebody reads, by each way of reading."""
    found: dict[str, set[str]] = {}
    async with scene.reading(who, login) as read:
        got = [await _got(read, row) for row in scene.made.values()]
        found["get"] = {text for text in got if text is not None}
        sought = [await read.find(type(row), id=row.id) for row in scene.made.values()]
        found["find"] = {row.text for row in sought if row is not None}
        for table in TABLES:
            page = await read.page(select(table), Paged(limit=200))
            every = {
                "all": await read.all(select(table)),
                "prepared": await read.select_prepared(_PREPARED[table]),
                "page": page.items,
                # Without a filter of ours, so that only row security chooses.
                "records": await read.records(select(table.text)),
            }
            for way, items in every.items():
                texts = {one["text"] if way == "records" else one.text for one in items}
                found.setdefault(way, set()).update(texts)
    return found


async def leaks(scene: Scene, login: str | None = None) -> list[str]:
    """Whoever reads what is not theirs, or does not read what is, and in which way."""
    return [
        f"{who.name} {way} {sorted(texts ^ READS[who.name])}"
        for who in scene.everybody.values()
        for way, texts in (await seen(scene, who, login)).items()
        if texts != READS[who.name]
    ]


async def test_each_party_reads_its_own_rows_and_strangers_none(scene: Scene) -> None:
    found = await leaks(scene)

    ways = 6 * len(scene.everybody) * len(TABLES)
    print(f"tables={len(TABLES)} actors={len(scene.everybody)} reads={ways} leaks={len(found)}")
    assert found == []


async def changed(scene: Scene, who: Who) -> set[str]:
    """The rows that somebody can lock and save."""
    done = set()
    for text, row in scene.made.items():
        async with scene.working(who) as work:
            try:
                held = await work.lock(type(row), row.id)
                await work.touch(held)
            except (NotFound, LookupError):
                continue
            done.add(text)  # rolled back: the next one finds it as it was
    return done


async def test_each_party_changes_its_own_rows_and_strangers_none(scene: Scene) -> None:
    found = {name: await changed(scene, who) for name, who in scene.everybody.items()}

    tried = len(scene.made) * len(scene.everybody)
    print(f"changes tried={tried} made={sum(map(len, found.values()))}")
    assert found == WRITES


async def test_nobody_adds_a_row_in_which_they_are_no_party(scene: Scene) -> None:
    owner, counterparty = scene.made["offer"].organization_id, scene.made["offer"].counterparty_id
    learner = scene.made["own course"].user_id
    foreign: list[Row] = [
        Offer(organization_id=owner, counterparty_id=counterparty, text="forged"),
        Tender(organization_id=owner, shared=True, text="forged"),
        Course(user_id=learner, organization_id=owner, text="forged"),
    ]
    for row in foreign:
        async with scene.working(scene.everybody["stranger"]) as work:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await work.add(row)


async def replace_party(scene: Scene, who: str, party: str) -> None:
    """Put a stranger in the place of a party of the offer."""
    stranger = scene.everybody["stranger"].organization_id
    async with scene.working(scene.everybody[who]) as work:
        text = f"UPDATE parties.offer SET {party} = $1 WHERE id = $2"
        await work.query(text, stranger, scene.made["offer"].id)


async def test_no_party_of_a_row_replaces_the_other(scene: Scene, settings: Settings) -> None:
    tries = (("owner", "counterparty_id"), ("counterparty", "organization_id"))
    for who, party in tries:
        with pytest.raises(asyncpg.RaiseError, match=f"{party} of offer cannot be replaced"):
            await replace_party(scene, who, party)

    with psycopg.connect(settings.admin_database.get_secret_value(), autocommit=True) as admin:
        admin.execute("DROP TRIGGER keep_parties ON parties.offer")
    for who, party in tries:
        await replace_party(scene, who, party)  # rolled back: nothing refuses it any more


@pytest.mark.parametrize(
    "read",
    [
        {"owner": {"offer", "own offer"}, "counterparty": {"offer"}, "stranger": set()},
        {"owner": {"shared", "hidden"}, "counterparty": {"shared"}, "stranger": {"shared"}},
    ],
)
async def test_reader_binds_rows_to_whoever_may_read_them(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, read: dict[str, set[str]]
) -> None:
    both = read["owner"]

    async def found(name: str) -> list[set[str]]:
        """As the system login, which sees all rows: only the filter of `Reader` is left."""
        ways = await seen(scene, scene.everybody[name], "parties_system")
        return [ways[way] & both for way in ("get", "find", "all", "prepared", "page")]

    for name, texts in read.items():
        assert await found(name) == [texts] * 5
    monkeypatch.setattr(Reader, "_bound", lambda self, row, columns: dict(columns))

    assert await found("stranger") == [read["stranger"], *[both] * 4]


@contextmanager
def policy(settings: Settings, table: str, name: str, wrong: str, right: str) -> Iterator[None]:
    """Another policy while a test looks."""
    with psycopg.connect(settings.admin_database.get_secret_value(), autocommit=True) as admin:
        admin.execute(f"ALTER POLICY {name} ON parties.{table} USING ({wrong})".encode())
        try:
            yield
        finally:
            admin.execute(f"ALTER POLICY {name} ON parties.{table} USING ({right})".encode())


@pytest.mark.parametrize(
    ("row", "name", "sees"),
    [(Offer, "holder", "offer"), (Tender, "reader", "hidden"), (Course, "holder", "own course")],
)
async def test_a_planted_policy_that_shows_rows_to_strangers_is_found(
    scene: Scene, settings: Settings, row: type[Row], name: str, sees: str
) -> None:
    right = row.__kind__.value.reads
    assert right is not None
    with policy(settings, row.__table__.name, name, "true", right):
        found = await leaks(scene)

    print(f"planted on {row.__table__.name}: leaks={len(found)}")
    assert [one for one in found if one.startswith("stranger records") and sees in one]
    assert await leaks(scene) == []


# --- the lint ---------------------------------------------------------------------------------


PLANTED = {
    None: None,
    "ALTER POLICY holder ON parties.offer USING (true)": (
        "parties.offer: has a policy that its kind does not mean"
    ),
    "ALTER POLICY reader ON parties.tender USING (true)": (
        "parties.tender: has a policy that its kind does not mean"
    ),
    "DROP INDEX parties.offer_counterparty_id_id_by": (
        "parties.offer: lacks the index counterparty_id, id"
    ),
    "DROP INDEX parties.course_organization_id_id_by": (
        "parties.course: lacks the index organization_id, id"
    ),
    "ALTER TABLE parties.offer DROP COLUMN counterparty_id CASCADE": (
        "parties.offer: counterparty_id is missing"
    ),
    "ALTER TABLE parties.tender ALTER shared DROP NOT NULL": (
        "parties.tender: shared is missing or may be null"
    ),
    "CREATE UNIQUE INDEX planted ON parties.tender (text, id)": (
        "parties.tender: key planted begins with text"
    ),
    "CREATE UNIQUE INDEX planted ON parties.offer (counterparty_id, text)": (
        "parties.offer: key planted begins with counterparty_id"
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
async def test_the_lint_of_tables_knows_the_kinds_of_two_parties(
    scene: Scene, admin: asyncpg.Connection, planted: str | None
) -> None:
    if planted is not None:
        await admin.execute(planted)

    swept = await tables.sweep(admin, ["parties"], rows())

    told = PLANTED[planted]
    assert bool(swept.faults) == (told is not None)
    assert told is None or [fault for fault in swept.faults if fault.startswith(told)]


# --- events -----------------------------------------------------------------------------------

_OUTBOX = """
    SELECT envelope, mesh_subject, organization_id FROM parties.outbox
    WHERE mesh_subject LIKE '%' || $1
"""


async def addressed(scene: Scene, name: str, to: UUID | None) -> list[asyncpg.Record]:
    """Change the offer as one party, tell it, and read what the outbox has for the addressee."""
    who = scene.everybody[name]
    async with scene.working(who) as work:
        offer = await work.touch(await work.lock(Offer, scene.made["offer"].id))
        work.publish(OfferChanged(offer_id=offer.id), to=to)
        await work.finish()
    return await _outbox(scene, to or who.organization_id)


async def _outbox(scene: Scene, organization_id: UUID | None) -> list[asyncpg.Record]:
    async with scene.host.engines.connection("parties", "parties_system") as connection:
        return list(await connection.fetch(_OUTBOX, str(organization_id)))


async def test_an_event_about_a_shared_row_goes_to_the_other_party(scene: Scene) -> None:
    offer = scene.made["offer"]

    (told,) = await addressed(scene, "owner", offer.counterparty_id)
    (back,) = await addressed(scene, "counterparty", offer.organization_id)

    for row, to, mine in (
        (told, offer.counterparty_id, offer.organization_id),
        (back, offer.organization_id, offer.counterparty_id),
    ):
        envelope = Envelope.model_validate_json(row["envelope"])
        assert envelope.organizationid == to
        assert is_of(envelope, "parties", row["mesh_subject"])
        assert row["organization_id"] == mine


async def test_an_event_for_a_third_organization_is_refused(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    third = scene.everybody["stranger"].organization_id
    with pytest.raises(LookupError, match="neither party"):
        await addressed(scene, "owner", third)
    assert await _outbox(scene, third) == []
    monkeypatch.setattr(Work, "_check_addressee", lambda *_: None)

    planted = await addressed(scene, "owner", third)

    print(f"planted: events_for_a_third={len(planted)}")
    assert len(planted) == 1


async def test_only_a_changed_row_between_two_has_an_addressee(scene: Scene) -> None:
    offer = scene.made["offer"]
    async with scene.working(scene.everybody["owner"]) as work:
        tender = await work.touch(await work.lock(Tender, scene.made["shared"].id))
        with pytest.raises(LookupError, match="did not change"):
            work.publish(OfferChanged(offer_id=offer.id), to=offer.counterparty_id)
        with pytest.raises(LookupError, match="neither party"):
            work.publish(OfferChanged(offer_id=tender.id), to=offer.counterparty_id)
        await work.touch(await work.lock(Offer, offer.id))
        named = OfferWithdrawn(organization_id=offer.organization_id, offer_id=offer.id)
        with pytest.raises(LookupError, match="names another organization"):
            work.publish(named, to=offer.counterparty_id)
