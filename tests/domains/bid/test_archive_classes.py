"""Archives of packs keep the class of the company's documents in them."""

import io
import zipfile
from datetime import timedelta
from importlib import import_module
from typing import Any
from uuid import UUID

import httpx2
import pytest
from sqlalchemy import select

from tests.conftest import Time
from tests.factories import bid as factory
from tests.factories import bid_offer as offers
from tests.factories import compliance_filed
from tests.factories import identity as people
from tests.factories.bid_offer import CASH
from tests.factories.bidding import Bidding
from tests.factories.identity import Member
from tests.planting import plant
from tests.suites.calls import keys
from thenga.domains.bid.services import files
from thenga.domains.bid.tables import BidFile, MatrixRow
from thenga.kernel.files.store import FileLost
from thenga.kernel.process.host import Host

NO_FORMS = offers.TERMS | {"forms": []}
MARK = "canary of a director"


@pytest.fixture
async def bidding(
    api: httpx2.AsyncClient, host: Host, joined: Host, clock: Time, bidder: Member
) -> Bidding:
    """A priced bid on a tender that asks for one document."""
    of = await offers.tender(host, terms=NO_FORMS)
    await factory.tenders.requirement(host, of, {"kind": "document", "params": {}})
    workspace = await factory.workspace(
        host, bidder.organization_id, bidder.user_id, of_tender=of, envelopes="two"
    )
    bid = Bidding(api, joined, clock, bidder, workspace)
    await bid.priced(CASH)
    return bid


async def cited(bidding: Bidding, document_class: str) -> None:
    """The matrix answers the tender's requirement by a document of this class."""
    made = await compliance_filed.filed(
        bidding.host, bidding.owner.organization_id, document_class, mark=MARK
    )
    work = bidding.work()
    (row,) = await work.all(select(MatrixRow).where(MatrixRow.workspace_id == bidding.workspace.id))
    row = await work.hold(row)
    row.response, row.evidence_ids = "comply", [str(made.evidence_id)]
    await work.save(row)
    await work.finish()


async def archives(bidding: Bidding, **body: Any) -> dict[str, str]:
    """The paths of the archives of a new pack, by the name of their envelope."""
    answer = await bidding.post(f"{bidding.path}/submission-pack", body)
    assert answer.status_code == 202, answer.text
    await bidding.settle()
    pack = (await bidding.get(answer.headers["location"].removeprefix("/v1"))).json()
    assert pack["build"]["status"] == "succeeded", pack["build"]
    return {made["name"]: f"/bids/files/{made['zipFileId']}" for made in pack["envelopes"]}


async def opened(bidding: Bidding, path: str, who: Member | None = None) -> httpx2.Response:
    return await bidding.get(f"{path}/content", who)


def _holds(answer: httpx2.Response) -> bool:
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return any(MARK.encode() in archive.read(name) for name in archive.namelist())


async def _downloads(bidding: Bidding) -> list[str]:
    text = "SELECT entry FROM bid.audit_entry WHERE organization_id = $1 ORDER BY id"
    async with bidding.host.engines.connection("bid", "bid_system") as link:
        rows = await link.fetch(text, bidding.owner.organization_id)
    return [row["entry"] for row in rows if "bid.file.downloaded" in row["entry"]]


@pytest.mark.rule("BID-56")
@pytest.mark.parametrize(
    ("document_class", "role", "permission"),
    [
        ("personal", "contributor", "compliance:personal_document:read"),
        ("personal", "bid_manager", "compliance:personal_document:read"),
        ("confidential", "contributor", "compliance:confidential_document:read"),
    ],
)
async def test_archive_is_for_readers_of_the_documents_in_it(
    bidding: Bidding, document_class: str, role: str, permission: str
) -> None:
    await cited(bidding, document_class)
    colleague = await bidding.colleague(role)
    found = await archives(bidding)

    refused = await opened(bidding, found["technical"], colleague)
    card = await bidding.get(found["technical"], colleague)
    read = await opened(bidding, found["technical"])
    shown = await bidding.get(found["technical"])
    price = await bidding.get(found["financial"])

    assert (refused.status_code, refused.json()["action"]) == (403, permission)
    assert card.status_code == 403
    assert (read.status_code, _holds(read)) == (200, True)
    assert (shown.json()["documentClass"], price.json()["documentClass"]) == (document_class, None)


@pytest.mark.rule("BID-56", "CMP-44")
async def test_each_download_of_a_personal_archive_is_recorded(
    bidding: Bidding, clock: Time
) -> None:
    await cited(bidding, "personal")
    found = await archives(bidding)

    for _ in range(2):
        assert (await opened(bidding, found["technical"])).status_code == 200
    await opened(bidding, found["financial"])
    await people.aged(bidding.host, bidding.owner, timedelta(minutes=6))
    old = await opened(bidding, found["technical"])

    recorded = await _downloads(bidding)
    assert (old.status_code, old.json()["code"]) == (403, "step-up-required")
    assert len(recorded) == 2
    assert all(str(bidding.owner.user_id) in entry for entry in recorded)


@pytest.mark.rule("BID-56")
async def test_key_with_the_file_scope_gets_no_personal_archive(bidding: Bidding) -> None:
    await cited(bidding, "personal")
    found = await archives(bidding)
    owner = bidding.owner
    text = await keys.key(bidding.host, owner, owner.organization_id, ["bid:file:read"])

    answer = await bidding.api.get(
        f"{found['technical']}/content", headers={"Authorization": f"Bearer {text}"}
    )

    assert answer.status_code == 403
    assert MARK.encode() not in answer.content


@pytest.mark.rule("BID-56")
async def test_archive_inside_another_keeps_its_class(bidding: Bidding) -> None:
    await cited(bidding, "personal")
    first = await archives(bidding)
    work = bidding.work()
    (row,) = await work.all(select(MatrixRow).where(MatrixRow.workspace_id == bidding.workspace.id))
    row = await work.hold(row)
    row.evidence_ids = []
    await work.save(row)
    await work.finish()
    inner = first["technical"].rpartition("/")[2]

    second = await archives(bidding, extraFiles={inner: {"envelope": "technical"}})

    assert (await bidding.get(second["technical"])).json()["documentClass"] == "personal"


@pytest.mark.rule("BID-56")
async def test_archive_of_ordinary_documents_is_for_the_team(bidding: Bidding) -> None:
    await cited(bidding, "ordinary")
    colleague = await bidding.colleague("contributor")
    found = await archives(bidding)

    read = await opened(bidding, found["technical"], colleague)

    assert (read.status_code, _holds(read), await _downloads(bidding)) == (200, True, [])


async def _ends(bidding: Bidding, path: str) -> BidFile:
    rows = {row.id: row for row in await bidding.rows(BidFile)}
    return rows[UUID(path.rpartition("/")[2])]


@pytest.mark.rule("BID-56", "CMP-44")
async def test_archive_is_destroyed_with_the_personal_document_in_it(bidding: Bidding) -> None:
    await cited(bidding, "personal")
    end = bidding.host.now() + timedelta(days=20)
    async with bidding.host.engines.connection("compliance", "compliance_system") as link:
        await link.execute(
            "UPDATE compliance.document_version SET next_check_at = $2 WHERE organization_id = $1",
            *(bidding.owner.organization_id, end),
        )
    found = await archives(bidding)
    row = await _ends(bidding, found["technical"])
    assert row.object_key is not None

    await bidding.until(end - timedelta(hours=1))
    kept = await _ends(bidding, found["technical"])
    await bidding.until(end + timedelta(hours=1))
    gone = await _ends(bidding, found["technical"])

    assert (kept.object_key, kept.next_check_at) == (row.object_key, end)
    assert (gone.object_key, gone.next_check_at, gone.sha256) == (None, None, row.sha256)
    assert (await _ends(bidding, found["financial"])).object_key is not None
    with pytest.raises(FileLost):
        [chunk async for chunk in bidding.host.files.read(row.object_key)]
    answer = await opened(bidding, found["technical"], await bidding.colleague("owner"))
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


@pytest.mark.rule("BID-56", "CMP-44")
async def test_archive_ends_where_nobody_says_when_its_document_does(bidding: Bidding) -> None:
    await cited(bidding, "personal")
    first = await archives(bidding)
    inner = first["technical"].rpartition("/")[2]

    second = await archives(bidding, extraFiles={inner: {"envelope": "technical"}})

    ends = [(await _ends(bidding, made["technical"])).next_check_at for made in (first, second)]
    assert ends[0] == ends[1] is not None
    assert ends[0] - bidding.host.now() <= files.PERSONAL_KEPT
    assert (await _ends(bidding, first["financial"])).next_check_at is None


@pytest.mark.rule("BID-56")
async def test_upgrade_gives_older_archives_an_end(bidding: Bidding) -> None:
    migration = import_module("thenga.domains.bid.migrations.bid_0004")
    await cited(bidding, "personal")
    found = await archives(bidding)
    forget = "UPDATE bid.file SET next_check_at = NULL WHERE organization_id = $1"
    async with bidding.host.engines.connection("bid", "bid_system") as link:
        await link.execute(forget, bidding.owner.organization_id)
        await link.execute(migration.FILL)

    row = await _ends(bidding, found["technical"])

    assert row.received_at is not None
    assert row.next_check_at == row.received_at + files.PERSONAL_KEPT
    assert (await _ends(bidding, found["financial"])).next_check_at is None


@pytest.mark.rule("BID-56")
async def test_upgrade_takes_older_archives_for_personal(bidding: Bidding) -> None:
    migration = import_module("thenga.domains.bid.migrations.bid_0003")
    await cited(bidding, "ordinary")
    found = await archives(bidding)
    other = await offers.workspace(bidding.host, bidding.owner, terms=NO_FORMS)
    plain = Bidding(bidding.api, bidding.host, bidding.clock, bidding.owner, other)
    await plain.priced(CASH)
    without = await archives(plain)
    async with bidding.host.engines.connection("bid", "bid_system") as link:
        await link.execute(migration.FILL)

    rows = {row.id: row.document_class for row in await bidding.rows(BidFile)}

    def named(path: str) -> str | None:
        return rows[UUID(path.rpartition("/")[2])]

    assert named(found["technical"]) == "personal"
    assert {named(found["financial"]), *map(named, without.values())} == {None}


async def test_planted_archive_without_class_is_found(
    bidding: Bidding, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, files, "strictest", lambda classes: None)
    await cited(bidding, "personal")
    colleague = await bidding.colleague("contributor")
    found = await archives(bidding)

    leaked = await opened(bidding, found["technical"], colleague)

    assert (leaked.status_code, _holds(leaked)) == (200, True)
