"""Downloads: by a ticket of a few minutes and uses, and one answer for all that is wrong."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import identity as people
from tests.factories.compliance_documents import DOCUMENTS, Office, pdf
from tests.factories.identity import Member
from tests.suites import stores

ID_NUMBER = "8001015009087"
_DIFFERS = ("instance", "requestId")


async def _link(office: Office, who: Member, document: Any, **body: Any) -> httpx2.Response:
    path = f"{DOCUMENTS}/{document['id']}/download-links"
    return await office.api.post(path, json=body, headers=who.acting)


async def _open(office: Office, url: str, **headers: str) -> httpx2.Response:
    return await office.api.get(url.partition("/v1")[2], headers=headers)


def _body(answer: httpx2.Response) -> Any:
    return {n: v for n, v in answer.json().items() if n not in _DIFFERS}


@pytest.mark.rule("CMP-12")
async def test_a_ticket_ends_by_time_uses_and_session(office: Office, clock: Time) -> None:
    officer, viewer = await office.member(), await office.member("viewer")
    document = await office.clean(officer)
    made = (await _link(office, viewer, document)).json()
    url = made["url"]

    good = [await _open(office, url) for _ in range(5)]
    sixth = await _open(office, url)
    other = (await _link(office, viewer, document)).json()["url"]
    flipped = await _open(office, other[:-1] + ("a" if other[-1] != "a" else "b"))
    unknown = await _open(office, other[: other.rindex("/")] + "/nothing")
    part = await _open(office, other, Range="bytes=0-3")
    session = f"/identity/sessions/{viewer.session_id}/revoke"
    assert (await office.api.post(session, headers=viewer.headers)).status_code == 200
    revoked = await _open(office, other)
    late_url = (await _link(office, officer, document)).json()["url"]
    clock.move(timedelta(seconds=301))
    late = await _open(office, late_url)

    refused = [sixth, flipped, unknown, revoked, late]
    bodies = [_body(one) for one in refused]
    print(f"refusals={len(refused)} different_bodies={len([b for b in bodies if b != bodies[0]])}")
    assert {one.status_code for one in good} == {200}
    assert good[0].content == pdf(mark=document["id"])
    assert good[0].headers["content-disposition"].startswith("attachment")
    assert good[0].headers["cache-control"] == "no-store"
    assert good[0].headers["content-security-policy"] == "sandbox"
    assert made["sha256"] == document["versions"][0]["sha256"]
    assert (part.status_code, part.content) == (206, b"%PDF")
    assert [one.status_code for one in refused] == [404] * 5
    assert all(body == bodies[0] for body in bodies)


async def _personal(office: Office, who: Member, **more: Any) -> httpx2.Response:
    return await office.add(who, "certified_id_copy", **more)


@pytest.mark.rule("CMP-44")
async def test_a_personal_paper_needs_purpose_right_and_proof(office: Office, clock: Time) -> None:
    officer, bidder = await office.member(), await office.member("bid_manager")
    why = {"purpose": "Bid for tender 8/2", "basis": "Legal obligation"}

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


@pytest.mark.rule("CMP-44")
async def test_a_personal_paper_is_destroyed_after_180_days(office: Office, clock: Time) -> None:
    officer = await office.member()
    why = {"purpose": "Bid for tender 8/2", "basis": "Legal obligation"}
    document = await office.clean(
        officer, "certified_id_copy", **why, fileName=f"ID {ID_NUMBER}.pdf"
    )
    mine = f"/{office.organization_id}/"
    before = [key for key in stores.keys(office.host.files) if mine in key]

    clock.move(timedelta(days=181))
    await office.settle()

    after = [key for key in stores.keys(office.host.files) if mine in key]
    officer = await office.member()
    gone = await office.api.get(f"{DOCUMENTS}/{document['id']}", headers=officer.acting)
    text = "SELECT count(*) FROM compliance.{} AS one WHERE one::text LIKE '%' || $1 || '%'"
    canaries = 0
    async with office.host.engines.connection("compliance", "compliance_system") as link:
        for table in ("document", "document_version", "outbox", "audit_entry"):
            canaries += await link.fetchval(text.format(table), ID_NUMBER)
        kept = await link.fetchval(
            "SELECT sha256 FROM compliance.document_version WHERE document_id = $1::uuid",
            document["id"],
        )
    print(f"id_canaries={canaries} objects={len(before)}->{len(after)}")
    assert (len(before), len(after)) == (1, 0)
    assert (gone.status_code, gone.json()["code"]) == (410, "erased")
    assert kept == document["versions"][0]["sha256"]
    assert canaries == 0


@pytest.mark.rule("CMP-12", "CMP-17")
async def test_staff_download_only_what_they_are_asked_about(office: Office) -> None:
    officer = await office.member("owner")
    document, other = await office.clean(officer), await office.clean(officer)
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
