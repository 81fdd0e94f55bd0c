"""Documents: bytes are received, scanned and looked into before anyone reads them."""

import asyncio
import hashlib
from base64 import b64encode
from uuid import uuid4

import pytest

from tests.canaries import sightings
from tests.factories.compliance_documents import DOCUMENTS, Office, pdf
from tests.suites import stores
from thenga.kernel.files.scanner import EICAR

_TWENTY_MIB = 20 * 1024 * 1024


def _objects(office: Office) -> set[str]:
    mine = f"/{office.organization_id}/"
    return {key for key in stores.keys(office.host.files) if mine in key}


@pytest.mark.rule("CMP-7", "CMP-8")
async def test_what_is_refused_on_arrival_leaves_no_object(office: Office) -> None:
    officer = await office.member()
    made = (await office.add(officer)).json()
    wrong = f"sha-256=:{b64encode(bytes(32)).decode()}:"

    answers = [
        await office.put(officer, made["id"], pdf() + bytes(_TWENTY_MIB + 1 - len(pdf()))),
        await office.put(officer, made["id"], pdf(), **{"Content-Digest": wrong}),
        await office.put(officer, made["id"], b"MZ" + bytes(200)),
    ]

    codes = [(one.status_code, one.json()["code"]) for one in answers]
    print(f"refused={len(codes)} objects={len(_objects(office))}")
    assert made["contentStatus"] == "awaiting_content"
    assert made["upload"]["maxBytes"] == _TWENTY_MIB
    assert codes == [
        (413, "too-large"),
        (422, "compliance-digest-mismatch"),
        (415, "compliance-content-mismatch"),
    ]
    assert _objects(office) == set()


@pytest.mark.rule("CMP-7")
async def test_of_two_first_uploads_at_once_one_is_kept(office: Office) -> None:
    officer = await office.member()
    made = (await office.add(officer)).json()

    sent = await asyncio.gather(
        *(office.put(officer, made["id"], pdf(mark=f"copy {n}")) for n in range(2))
    )

    assert sorted(one.status_code for one in sent) == [202, 409]
    assert len(_objects(office)) == 1


@pytest.mark.rule("CMP-9")
async def test_a_file_is_available_only_once_it_is_clean(office: Office) -> None:
    officer = await office.member()
    need = await office.requirement()
    content = pdf(pages=3)
    made = (await office.add(officer)).json()
    received = await office.put(officer, made["id"], content)
    early = await office.link(officer, made, need)
    path = f"{DOCUMENTS}/{made['id']}/download-links"
    no_link = await office.api.post(path, json={}, headers=officer.acting)
    await office.settle()
    again = await office.put(officer, made["id"], content)

    shown = await office.get(officer, made["id"])
    (told,) = await office.events("DocumentUploaded")
    assert (received.status_code, received.json()["contentStatus"]) == (202, "quarantined")
    assert received.headers["location"].endswith(f"{DOCUMENTS}/{made['id']}")
    for refused in (early, no_link):
        assert (refused.status_code, refused.json()["code"]) == (409, "file-not-clean")
    assert (shown["contentStatus"], shown["currentVersion"]) == ("clean", 1)
    assert shown["versions"][0]["pages"] == 3
    assert told["sha256"] == hashlib.sha256(content).hexdigest() == shown["versions"][0]["sha256"]
    assert again.status_code == 200


@pytest.mark.rule("CMP-9", "CMP-11")
async def test_bad_files_are_never_available(office: Office) -> None:
    officer = await office.member()
    bad = {
        "infected": pdf() + EICAR,
        "locked": pdf(password="secret"),
        "damaged": b"%PDF-1.7\nnothing that could be read\n%%EOF\n",
        "too many pages": pdf(pages=501),
    }
    made = {}
    for name, content in bad.items():
        made[name] = (await office.add(officer)).json()["id"]
        await office.put(officer, made[name], content)

    await office.settle()

    shown = {name: await office.get(officer, one) for name, one in made.items()}
    available = [name for name, one in shown.items() if one["currentVersion"] is not None]
    print(f"files={len(bad)} available_bad={len(available)}")
    assert available == []
    assert shown["infected"]["contentStatus"] == "infected"
    assert {one["contentStatus"] for n, one in shown.items() if n != "infected"} == {"refused"}
    assert len(await office.events("DocumentRefused")) == len(bad)
    assert await office.events("DocumentUploaded") == []


async def test_a_new_version_names_the_version_it_replaces(office: Office) -> None:
    officer = await office.member()
    document = await office.clean(officer, issuedOn="2026-10-01")

    without = await office.put(officer, document["id"], pdf(mark="second"))
    stale = await office.renew(officer, document | {"version": 1}, pdf(mark="second"))
    same = await office.renew(officer, document, pdf(mark=document["id"]))
    renewed = await office.renew(officer, document, pdf(mark="second"))
    await office.settle()

    shown = await office.get(officer, document["id"])
    assert (without.status_code, stale.status_code) == (428, 412)
    assert same.status_code == 200
    assert renewed.status_code == 202
    assert shown["currentVersion"] == 3  # the second would have been the same bytes
    assert [one["number"] for one in shown["versions"]] == [3, 1]


@pytest.mark.rule("CMP-24")
async def test_facts_decide_until_when_a_document_is_valid(office: Office) -> None:
    officer = await office.member()
    document = await office.clean(officer, "coida_letter")
    undated = document["validity"]

    future = await office.patch(officer, document["id"], issuedOn="2099-01-01")
    changed = await office.patch(
        officer,
        document["id"],
        issuedOn="2026-05-12",
        renewal={"expectedOn": "2027-04-01"},
    )

    shown = changed.json()
    assert undated == "undated"
    assert (future.status_code, future.json()["code"]) == (422, "validation-failed")
    assert shown["validUntil"] == {"on": "2027-04-30", "basis": "cycle"}
    assert shown["renewal"]["expectedOn"] == "2027-04-01"
    assert len(await office.events("RenewalStarted")) == 1
    assert (await office.events("DocumentChanged"))[0]["changedFields"]


@pytest.mark.rule("CMP-44")
async def test_no_trail_holds_a_number_or_a_file_name(office: Office) -> None:
    canaries = [f"canary{uuid4().hex}" for _ in range(4)]
    name, number, holder, later = canaries
    officer, approver = await office.member(), await office.member("approver")
    stated = {"number": number, "holderName": holder, "issuedOn": "2026-11-01"}
    document = await office.clean(officer, fileName=f"{name}.pdf", **stated)
    changed = await office.patch(officer, document["id"], number=later)
    made = (await office.link(officer, document, await office.requirement(tender=True))).json()
    asked = (await office.ask(officer, made["id"])).json()
    sha = made["sha256"]
    await office.decide(approver.acting, asked["id"], outcome="verified", evidenceSha256=sha)
    await office.settle()

    found = await sightings(office.host.settings, ["compliance"], *canaries)

    trails = {"audit_entry", "outbox", "procrastinate_jobs"}
    seen = {table.removeprefix("compliance.") for table in found}
    print(f"number_canaries={len(seen & trails)} tables={sorted(seen)}")
    assert changed.json()["versions"][0]["documentNumber"] == later
    assert "document_version" in seen  # the search finds what is there
    assert seen & trails == set()
