"""Printed forms keep the class of the sealed numbers on them, and so does what is made of them."""

import io
import zipfile
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from uuid import UUID

import httpx2
import pytest
from pypdf import PdfReader

from tests.factories import bid_offer as offers
from tests.factories import compliance_filed
from tests.factories.bid_offer import ID_NUMBER
from tests.factories.bidding import Bidding
from tests.factories.compliance_documents import pdf
from tests.factories.identity import Member
from tests.planting import plant
from thenga.domains.bid.services.forms import rendering
from thenga.domains.bid.tables import BidFile

PIN, SUPPLIER = "PIN4QX7P2", "MAAA0123456"
INVITATION: dict[str, Any] = {
    "s__accredited_representative": {"value": "no"},
    "s__foreign_supplier": {"value": "no"},
    "b__terms_read": {"accept": True},
    "s__postal_address": {"value": "PO Box 1"},
}
DISCLOSURE: dict[str, Any] = {
    "2__1": {"value": "yes"},
    "2__2": {"value": "no"},
    "2__3": {"value": "no"},
    "3__name": {"value": "Nomsa Dube"},
    "3__accept": {"accept": True},
}
CONFIDENTIAL, PERSONAL = (
    "compliance:confidential_document:read",
    "compliance:personal_document:read",
)


@dataclass(frozen=True)
class Printed:
    """A printed form: what it is, the number that must not leave, and its class."""

    code: str
    number: str
    document_class: str
    permission: str


PIN_FORM = Printed("SBD 1", PIN, "confidential", CONFIDENTIAL)
CSD_FORM = Printed("SBD 1", SUPPLIER, "confidential", CONFIDENTIAL)
ID_FORM = Printed("SBD 4", ID_NUMBER, "personal", PERSONAL)


async def printed(bidding: Bidding, what: Printed) -> Any:
    """The completed form with its number on it."""
    owner, answers = bidding.owner, INVITATION
    if what is PIN_FORM:
        filed = ("tax_compliance", "confidential")
        await compliance_filed.proven(bidding.host, owner.organization_id, *filed, number=PIN)
        answers = INVITATION | {"s__tcs_pin": {"confirm": True}}
    elif what is CSD_FORM:
        filed = ("csd_registration", "ordinary")
        await compliance_filed.proven(bidding.host, owner.organization_id, *filed, number=SUPPLIER)
        answers = INVITATION | {"s__csd_number": {"confirm": True}}
    else:
        who = await offers.director(bidding.host, owner)
        rows = [{"directorId": str(who.id), "institution": "Department of Water"}]
        answers = DISCLOSURE | {"2__1__1": {"directors": rows}}
    form = (await bidding.forms(what.code))[what.code]
    given = await bidding.answered(form, **answers)
    assert given.status_code == 200, given.text
    done = await bidding.move(form["id"], "complete")
    assert done.status_code == 200, done.text
    return done.json()


def path_of(form: Any) -> str:
    return f"/bids/files/{form['rendering']['fileId']}"


def shows(content: bytes, number: str) -> bool:
    """Whether a print, or one in an archive, shows the number."""
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return any(shows(archive.read(name), number) for name in archive.namelist())
    if not content.startswith(b"%PDF-"):
        return number.encode() in content
    return any(number in page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


async def signed(bidding: Bidding, form: Any, **more: Any) -> None:
    path = f"/bids/sbd-forms/{form['id']}"
    body = {
        "method": "electronic",
        "capacity": "Director",
        "renderingSha256": form["rendering"]["sha256"],
    }
    version = (await bidding.get(path)).json()["version"]
    done = await bidding.post(f"{path}/sign", body | more, **{"If-Match": f'"{version}"'})
    assert done.status_code == 200, done.text


async def archive(bidding: Bidding) -> str:
    """The path of the archive of a new pack."""
    made = await bidding.post(f"{bidding.path}/submission-pack", {})
    assert made.status_code == 202, made.text
    await bidding.settle()
    pack = (await bidding.get(made.headers["location"].removeprefix("/v1"))).json()
    assert pack["build"]["status"] == "succeeded", pack["build"]
    return f"/bids/files/{pack['envelopes'][0]['zipFileId']}"


async def downloads(bidding: Bidding) -> list[str]:
    text = "SELECT entry FROM bid.audit_entry WHERE organization_id = $1 ORDER BY id"
    async with bidding.host.engines.connection("bid", "bid_system") as link:
        rows = await link.fetch(text, bidding.owner.organization_id)
    return [row["entry"] for row in rows if "bid.file.downloaded" in row["entry"]]


async def check_for_readers_alone(bidding: Bidding, path: str, what: Printed) -> None:
    """The contributor of the team gets neither card nor bytes; the owner gets them, on record."""
    colleague = await bidding.colleague("contributor")
    before = len(await downloads(bidding))

    refused = [await bidding.get(one, colleague) for one in (path, f"{path}/content")]
    card, read = await bidding.get(path), await bidding.get(f"{path}/content")

    assert [one.status_code for one in refused] == [403, 403]
    assert refused[0].json()["action"] == what.permission
    assert card.json()["documentClass"] == what.document_class
    assert read.status_code == 200, read.text
    assert shows(read.content, what.number)
    (recorded,) = (await downloads(bidding))[before:]
    assert str(bidding.owner.user_id) in recorded


@pytest.mark.rule("BID-56")
@pytest.mark.parametrize("what", [PIN_FORM, CSD_FORM, ID_FORM])
async def test_printed_form_is_for_readers_of_its_numbers(bidding: Bidding, what: Printed) -> None:
    form = await printed(bidding, what)

    await check_for_readers_alone(bidding, path_of(form), what)


@pytest.mark.rule("BID-56")
@pytest.mark.parametrize("what", [PIN_FORM, ID_FORM])
async def test_archive_keeps_the_class_of_its_forms(bidding: Bidding, what: Printed) -> None:
    await signed(bidding, await printed(bidding, what))

    await check_for_readers_alone(bidding, await archive(bidding), what)


@pytest.mark.rule("BID-56")
async def test_scan_has_the_class_of_its_print(bidding: Bidding) -> None:
    form = await printed(bidding, ID_FORM)
    here = (bidding.host, bidding.owner.organization_id, bidding.workspace.id)
    scan = await offers.clean_file(*here, bytes_=pdf(pages=form["rendering"]["pages"]))
    colleague = await bidding.colleague("contributor")
    path = f"/bids/files/{scan.id}"

    before = await bidding.get(path, colleague)
    await signed(bidding, form, method="wet_ink", fileId=str(scan.id))
    after = await bidding.get(path, colleague)

    assert (before.status_code, after.status_code) == (200, 403)
    assert (await bidding.get(path)).json()["documentClass"] == "personal"


@pytest.mark.rule("BID-56")
async def test_form_without_numbers_is_for_the_team(bidding: Bidding) -> None:
    form = (await bidding.forms("SBD 4"))["SBD 4"]
    await bidding.answered(form, **DISCLOSURE | {"2__1": {"value": "no"}})
    done = (await bidding.move(form["id"], "complete")).json()
    colleague = await bidding.colleague("contributor")

    read = await bidding.get(f"{path_of(done)}/content", colleague)

    assert (read.status_code, await downloads(bidding)) == (200, [])


@pytest.mark.rule("BID-24", "CMP-48")
async def test_hidden_number_is_not_printed_for_others(bidding: Bidding) -> None:
    """A contributor has the right to complete forms, but not to read the tax letter."""
    here = (bidding.host, bidding.owner.organization_id)
    await compliance_filed.proven(*here, "tax_compliance", "confidential", number=PIN)
    colleague = await bidding.colleague("contributor")
    form = (await bidding.forms("SBD 1"))["SBD 1"]
    path = f"/bids/sbd-forms/{form['id']}"
    confirm = {"answers": {"s.tcs_pin": {"confirm": True}}}

    refused = await bidding.patch(path, confirm, form["version"], colleague)
    confirmed = await bidding.answered(form, **INVITATION | {"s__tcs_pin": {"confirm": True}})
    move = {"move": "complete"}
    unprinted = await bidding.patch(path, move, confirmed.json()["version"], colleague)

    assert (refused.status_code, refused.json()["code"]) == (422, "bid-answer-invalid")
    assert confirmed.status_code == 200, confirmed.text
    assert (unprinted.status_code, unprinted.json()["code"]) == (422, "bid-form-incomplete")
    assert "not allowed to see it" in unprinted.text
    assert all(file.purpose != "rendering" for file in await bidding.rows(BidFile))


@pytest.mark.rule("BID-56")
async def test_upgrade_gives_older_prints_their_class(bidding: Bidding) -> None:
    migration = import_module("thenga.domains.bid.migrations.bid_0005")
    form = await printed(bidding, ID_FORM)
    here = (bidding.host, bidding.owner.organization_id, bidding.workspace.id)
    scan = await offers.clean_file(*here, bytes_=pdf(pages=form["rendering"]["pages"]))
    other = await offers.clean_file(*here)
    await signed(bidding, form, method="wet_ink", fileId=str(scan.id))
    packed = await archive(bidding)
    named = [UUID(path_of(form)[-36:]), scan.id, UUID(packed[-36:]), other.id]
    async with bidding.host.engines.connection("bid", "bid_system") as link:
        await link.execute("UPDATE bid.file SET document_class = NULL WHERE id = ANY($1)", named)
        for statement in migration.FILL:
            await link.execute(statement)

    rows = {row.id: row.document_class for row in await bidding.rows(BidFile)}

    assert [rows[one] for one in named] == ["personal"] * 3 + [None]


@pytest.mark.parametrize("what", [PIN_FORM, ID_FORM])
async def test_planted_print_without_class_is_found(
    bidding: Bidding, monkeypatch: pytest.MonkeyPatch, what: Printed
) -> None:
    plant(monkeypatch, rendering, "_class_of", lambda plain: None)
    form = await printed(bidding, what)
    colleague: Member = await bidding.colleague("contributor")

    leaked: httpx2.Response = await bidding.get(f"{path_of(form)}/content", colleague)

    assert (leaked.status_code, shows(leaked.content, what.number)) == (200, True)
