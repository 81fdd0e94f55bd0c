"""Downloads: by a ticket of a few minutes and uses, and one answer for all that is wrong."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from structlog.testing import capture_logs

from tests.canaries import sightings
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories.compliance_documents import DOCUMENTS, Office, pdf
from tests.factories.identity import Member
from tests.planting import plant
from tests.suites import stores
from thenga import topology
from thenga.domains.compliance.lifecycles import DocumentLifecycle
from thenga.domains.compliance.services.documents import downloads, inspection
from thenga.domains.compliance.tables import Document, DocumentVersion

ID_NUMBER = "8001015009087"
_DIFFERS = ("instance", "requestId")
_WHY = {"purpose": "Bid for tender 8/2", "basis": "Legal obligation"}


async def _link(office: Office, who: Member, document: Any, **body: Any) -> httpx2.Response:
    path = f"{DOCUMENTS}/{document['id']}/download-links"
    return await office.api.post(path, json=body, headers=who.acting)


async def _open(office: Office, url: str, **headers: str) -> httpx2.Response:
    return await office.api.get(url.partition("/v1")[2], headers=headers)


async def refused_tickets(office: Office, clock: Time) -> dict[str, Any]:
    """What a ticket is answered that is used up, changed, unknown, orphaned, erased or late."""
    officer, viewer = await office.member(), await office.member("viewer")
    document, other = await office.clean(officer), await office.clean(officer)
    url = (await _link(office, viewer, document)).json()["url"]
    for _ in range(5):
        assert (await _open(office, url)).status_code == 200
    answers = {"sixth": await _open(office, url)}
    second = (await _link(office, viewer, document)).json()["url"]
    changed = second[:-1] + ("a" if second[-1] != "a" else "b")
    answers["changed"] = await _open(office, changed)
    answers["unknown"] = await _open(office, second[: second.rindex("/")] + "/nothing")
    session = f"/identity/sessions/{viewer.session_id}/revoke"
    assert (await office.api.post(session, headers=viewer.headers)).status_code == 200
    answers["revoked"] = await _open(office, second)
    gone = (await _link(office, officer, other)).json()["url"]
    await _erase(office, other["id"])
    answers["erased"] = await _open(office, gone)
    late = (await _link(office, officer, document)).json()["url"]
    clock.move(timedelta(seconds=301))
    answers["late"] = await _open(office, late)
    found = {name: (one.status_code, _body(one)) for name, one in answers.items()}
    unlike = [name for name, one in found.items() if one != found["unknown"]]
    print(f"refusals={len(found)} different_bodies={len(unlike)}")
    return found


async def _erase(office: Office, document_id: str) -> None:
    """The document ends, as its own job would end it."""
    work = office.work()
    held = await work.lock(Document, UUID(document_id))
    DocumentLifecycle.erase(held, at=work.now)
    await work.save(held)
    await work.finish()


def _body(answer: httpx2.Response) -> Any:
    """What every refusal has in common; of a file that is served, that it is."""
    if answer.status_code == 200:
        return "served"
    return {n: v for n, v in answer.json().items() if n not in _DIFFERS}


@pytest.mark.rule("CMP-12")
async def test_a_ticket_ends_by_time_uses_session_and_document(office: Office, clock: Time) -> None:
    found = await refused_tickets(office, clock)

    assert {status for status, _ in found.values()} == {404}
    assert all(one == found["unknown"] for one in found.values())


async def _allow(*_: object) -> None: ...


@pytest.mark.parametrize(
    ("name", "bug", "served"),
    [("_ask_again", _allow, "revoked"), ("MOST_USES", 6, "sixth")],
)
async def test_a_planted_ticket_that_lasts_is_found(
    office: Office, clock: Time, monkeypatch: pytest.MonkeyPatch, name: str, bug: Any, served: str
) -> None:
    plant(monkeypatch, downloads, name, bug)

    found = await refused_tickets(office, clock)

    assert [one for one, (status, _) in found.items() if status == 200] == [served]


@pytest.mark.rule("CMP-12")
async def test_a_file_is_served_as_an_attachment_in_parts(office: Office) -> None:
    officer = await office.member()
    document = await office.clean(officer)
    made = (await _link(office, officer, document)).json()

    good = await _open(office, made["url"])
    part = await _open(office, made["url"], Range="bytes=0-3")

    assert good.content == pdf(mark=document["id"])
    assert good.headers["content-disposition"].startswith("attachment")
    assert good.headers["x-content-type-options"] == "nosniff"
    assert good.headers["cache-control"] == "no-store"
    assert good.headers["content-security-policy"] == "sandbox"
    assert made["sha256"] == document["versions"][0]["sha256"]
    assert (part.status_code, part.content) == (206, b"%PDF")


async def _personal(office: Office, who: Member, **more: Any) -> httpx2.Response:
    return await office.add(who, "certified_id_copy", **more)


@pytest.mark.rule("CMP-44")
async def test_a_personal_paper_needs_purpose_right_and_proof(office: Office, clock: Time) -> None:
    officer, bidder = await office.member(), await office.member("bid_manager")
    why = _WHY

    no_purpose = await _personal(office, officer)
    no_right = await _personal(office, bidder, **why)
    number = await _personal(office, officer, number=ID_NUMBER, **why)
    document = await office.clean(officer, "certified_id_copy", **why)
    path = f"{DOCUMENTS}?organizationId={office.organization_id}"
    hidden = (await office.api.get(path, headers=bidder.acting)).json()
    foreign = await office.api.get(f"{DOCUMENTS}/{document['id']}", headers=bidder.acting)
    without = await _link(office, officer, document)
    good = await _link(office, officer, document, purpose="Bid for tender 8/2")
    opened = await _open(office, good.json()["url"])
    await people.aged(office.host, officer, timedelta(minutes=6))
    old = await _link(office, officer, document, purpose="Bid for tender 8/2")

    assert (no_purpose.status_code, no_purpose.json()["code"]) == (
        422,
        "compliance-purpose-required",
    )
    assert no_right.status_code == 403
    assert number.status_code == 422
    assert (hidden["items"], hidden["personalHidden"]) == ([], 1)
    assert foreign.status_code == 404
    assert without.json()["code"] == "compliance-purpose-required"
    assert (good.status_code, opened.status_code) == (201, 200)
    assert (old.status_code, old.json()["code"]) == (403, "step-up-required")


@dataclass(frozen=True)
class Remains:
    """What is left of a personal paper after 181 days."""

    objects: int
    canaries: int
    code: str | None
    is_hash_kept: bool


async def remains(office: Office, clock: Time) -> Remains:
    """File a copy with an ID number in its name and its text, and let 181 days pass."""
    number = f"8001{uuid4().int % 10**9:09d}"
    mine = f"/{office.organization_id}/"
    with capture_logs() as logs:
        document = await _filed(office, number)
        assert len([key for key in stores.keys(office.host.files) if mine in key]) == 1
        clock.move(timedelta(days=181))
        await office.settle()

    officer = await office.member()
    gone = await office.api.get(f"{DOCUMENTS}/{document['id']}", headers=officer.acting)
    left = [key for key in stores.keys(office.host.files) if mine in key]
    canaries = len(await sightings(office.host.settings, topology.DOMAINS, number))
    canaries += sum(number in key for key in left) + str(logs).count(number)
    (version,) = await office.rows(DocumentVersion, document_id=UUID(document["id"]))
    print(f"id_canaries={canaries} objects=1->{len(left)}")
    is_kept = version.sha256 == document["versions"][0]["sha256"]
    return Remains(len(left), canaries, gone.json().get("code"), is_kept)


async def _filed(office: Office, number: str) -> Any:
    """A clean copy of an identity document, with the number in its name and its bytes."""
    officer = await office.member()
    made = (await _personal(office, officer, **_WHY, fileName=f"ID {number}.pdf")).json()
    await office.put(officer, made["id"], pdf(mark=f"ID {number}"))
    await office.settle()
    return await office.get(officer, made["id"])


@pytest.mark.rule("CMP-44")
async def test_a_personal_paper_is_destroyed_after_180_days(office: Office, clock: Time) -> None:
    assert await remains(office, clock) == Remains(0, 0, "erased", True)


async def _keep(*_: object) -> None:
    return None


@pytest.mark.parametrize(
    ("name", "bug", "wrong"),
    [
        ("is_due_for_destruction", lambda *_: False, Remains(1, 1, None, True)),
        ("destroy", _keep, Remains(0, 1, None, True)),
    ],
)
async def test_a_planted_paper_that_outlives_its_time_is_found(
    office: Office,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    bug: Any,
    wrong: Remains,
) -> None:
    plant(monkeypatch, inspection, name, bug)

    assert await remains(office, clock) == wrong


@pytest.mark.rule("CMP-12", "CMP-17")
@pytest.mark.parametrize("type_code", ["csd_report", "tcs_pin_letter"])
async def test_staff_download_only_what_they_are_asked_about(
    office: Office, type_code: str
) -> None:
    officer = await office.member("owner")
    document, other = [await office.clean(officer, type_code) for _ in range(2)]
    staff = await people.staff(office.host, "platform_operator")
    acting = staff.headers | {"X-Organization-Id": str(office.organization_id)}

    async def link(paper: Any) -> httpx2.Response:
        path = f"{DOCUMENTS}/{paper['id']}/download-links"
        return await office.api.post(path, json={}, headers=acting)

    unasked = await link(document)
    made = (await office.link(officer, document, await office.requirement(tender=True))).json()
    asked = (await office.ask(officer, made["id"], requestedFrom="platform")).json()
    await office.settle()
    good = await link(document)
    opened = await _open(office, good.json()["url"])
    elsewhere = await link(other)
    sha = made["sha256"]
    await office.decide(staff.headers, asked["id"], outcome="verified", evidenceSha256=sha)
    await office.settle()
    over = await link(document)

    assert (good.status_code, opened.status_code) == (201, 200)
    assert opened.content == pdf(mark=document["id"])
    assert [one.status_code for one in (unasked, elsewhere, over)] == [404] * 3
