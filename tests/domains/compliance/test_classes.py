"""Classes: a document that a caller may not read does not exist for any operation."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.factories import identity as people
from tests.factories.compliance_documents import DOCUMENTS, EVIDENCE, VERIFICATIONS, Office, pdf
from tests.factories.identity import Member
from tests.planting import plant
from tests.suites.calls import keys
from thenga.domains.compliance import public
from thenga.domains.compliance.provider import LocalSuggestions
from thenga.domains.compliance.services.documents import classes
from thenga.domains.compliance.tables import Document
from thenga.kernel.values.calendar import local_day

_WHY = {"purpose": "Bid for tender 8/2", "basis": "Legal obligation"}
_VARIES = ("instance", "requestId")
SECRET = "Nomvula Dlamini"  # a name that nobody else may read


async def _document(office: Office, who: Member, document_class: str, **more: Any) -> Any:
    type_code, why = {
        "personal": ("certified_id_copy", _WHY),
        "confidential": ("tcs_pin_letter", {}),
    }[document_class]
    return await office.clean(who, type_code, title=SECRET, holderName=SECRET, **why, **more)


async def _suggestion(office: Office, document: Any, *, target: UUID | None = None) -> str:
    source = public.SuggestionSource(
        document_id=UUID(document["id"]), version=1, page=1, excerpt=SECRET
    )
    about = public.SuggestionTarget(type="document", id=UUID(document["id"]), field="holderName")
    proposed: dict[str, Any] = {"holderName": SECRET}
    kind: Any = "document_facts"
    if target is not None:
        about = public.SuggestionTarget(type="requirement", id=target)
        kind, proposed = "requirement_mapping", {"definitionCode": "csd_registration"}
    made = await LocalSuggestions(office.host).propose(
        organization_id=office.organization_id,
        key=f"read/{uuid4()}",
        kind=kind,
        target=about,
        proposed=proposed,
        confidence=0.9,
        sources=[source],
        produced_by=public.SuggestionProducer(name="reader", version="1"),
    )
    return str(made.suggestion_id)


Call = Callable[[str, dict[str, str]], Awaitable[httpx2.Response]]


def _on_document(office: Office) -> dict[str, Call]:
    """Every operation on one document, by the identifier that it names."""
    api = office.api

    def put(content: bytes, **more: str) -> Call:
        return lambda name, headers: api.put(
            f"{DOCUMENTS}/{name}/content", content=content, headers=headers | more
        )

    link = {"organizationId": str(office.organization_id), "requirementIds": [str(uuid4())]}
    return {
        "get": lambda name, headers: api.get(f"{DOCUMENTS}/{name}", headers=headers),
        "patch": lambda name, headers: api.patch(
            f"{DOCUMENTS}/{name}", json={"title": "Other"}, headers=headers
        ),
        "download": lambda name, headers: api.post(
            f"{DOCUMENTS}/{name}/download-links", json={"purpose": "Bid 8/2"}, headers=headers
        ),
        "upload": put(pdf(mark="forged")),
        "upload of a version": put(pdf(mark="forged"), **{"If-Match": '"3"'}),
        "upload of a wrong version": put(pdf(mark="forged"), **{"If-Match": '"99"'}),
        "link": lambda name, headers: api.post(
            EVIDENCE, json=link | {"documentId": name}, headers=headers
        ),
    }


async def differing(office: Office, headers: dict[str, str], document: Any) -> list[str]:
    """Operations that answer for a document otherwise than for one that does not exist."""
    found = []
    for name, call in _on_document(office).items():
        answer = await call(document["id"], headers)
        missing = await call(str(uuid4()), headers)
        if (missing.status_code, _body(answer)) != (404, _body(missing)):
            found.append(name)
    return found


def _body(answer: httpx2.Response) -> dict[str, Any]:
    return {name: value for name, value in answer.json().items() if name not in _VARIES}


@pytest.mark.rule("CMP-48")
@pytest.mark.parametrize(
    ("document_class", "role"), [("personal", "contributor"), ("confidential", "contributor")]
)
async def test_hidden_document_does_not_exist_for_any_operation(
    office: Office, document_class: str, role: str
) -> None:
    officer, outsider = await office.member(), await office.member(role)
    document = await _document(office, officer, document_class)

    found = await differing(office, outsider.acting, document)

    assert found == []
    after = await office.get(officer, document["id"])
    assert (after["currentVersion"], len(after["versions"])) == (1, 1)
    assert after["version"] == document["version"]


@pytest.mark.rule("CMP-48")
async def test_key_with_one_scope_does_not_find_a_hidden_document(office: Office) -> None:
    officer = await office.member()
    document = await _document(office, officer, "personal")
    text = await keys.key(
        office.host, officer, office.organization_id, ["compliance:document:upload"]
    )

    answer = await office.api.put(
        f"{DOCUMENTS}/{document['id']}/content",
        content=pdf(mark=document["id"]),
        headers={"Authorization": f"Bearer {text}"},
    )

    assert answer.status_code == 404
    assert SECRET not in answer.text


@pytest.mark.rule("CMP-48")
async def test_planted_open_classes_are_found(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def open_to_all(*_: object) -> None: ...

    plant(monkeypatch, classes, "check_readable", open_to_all)
    officer, outsider = await office.member(), await office.member("contributor")
    document = await _document(office, officer, "confidential")

    found = await differing(office, outsider.acting, document)

    assert {"get", "patch", "upload", "upload of a version", "download"} <= set(found)


@pytest.mark.rule("CMP-48")
async def test_lists_leave_out_hidden_documents(office: Office) -> None:
    officer, viewer = await office.member(), await office.member("viewer")
    bidder = await office.member("bid_manager")
    day = local_day(office.host.now()).replace(year=2027).isoformat()
    await _document(office, officer, "confidential", expiresOn=day)
    organization = f"organizationId={office.organization_id}"

    lists = [f"{DOCUMENTS}?{organization}", f"/compliance/expiry?{organization}"]
    hidden = [(await office.api.get(path, headers=viewer.acting)).text for path in lists]
    shown = [(await office.api.get(path, headers=bidder.acting)).text for path in lists]

    assert [SECRET in text for text in (*hidden, *shown)] == [False, False, True, True]


@pytest.mark.rule("CMP-48")
async def test_number_of_hidden_documents_ignores_filters(office: Office) -> None:
    officer, viewer = await office.member(), await office.member("viewer")
    today = local_day(office.host.now())
    await _document(office, officer, "personal", expiresOn=today.replace(year=2027).isoformat())
    path = f"{DOCUMENTS}?organizationId={office.organization_id}"

    numbers = {
        (await office.api.get(f"{path}{more}", headers=viewer.acting)).json()["personalHidden"]
        for more in (
            "",
            f"&expiresBefore={today.isoformat()}",
            "&type=certified_id_copy",
            "&type=csd_report",
            "&subject=partner",
            "&contentStatus=infected",
        )
    }

    assert numbers == {1}


@pytest.mark.rule("CMP-48")
async def test_contributor_reads_own_confidential_document(office: Office) -> None:
    officer, contributor = await office.member(), await office.member("contributor")
    document = await _document(office, contributor, "confidential")
    link = await office.api.post(
        f"{DOCUMENTS}/{document['id']}/download-links", json={}, headers=contributor.acting
    )

    renewed = await office.renew(officer, document, pdf(mark="newer"))
    await office.settle()
    after = await office.api.get(f"{DOCUMENTS}/{document['id']}", headers=contributor.acting)
    opened = await office.api.get(link.json()["url"].partition("/v1")[2])

    assert (document["title"], link.status_code, renewed.status_code) == (SECRET, 201, 202)
    assert (after.status_code, opened.status_code) == (404, 404)


@pytest.mark.rule("CMP-48")
async def test_upload_of_a_personal_document_needs_its_own_right(office: Office) -> None:
    officer, reader = await office.member(), await office.member("contributor")
    document = await _document(office, officer, "personal")
    work = people.working(office.host, office.organization_id)
    await people.permission(work, reader, "compliance:personal_document:read", effect="allow")
    await work.finish()

    read = await office.api.get(f"{DOCUMENTS}/{document['id']}", headers=reader.acting)
    refused = await office.renew(reader, document, pdf(mark="forged"))

    assert read.status_code == 200
    assert (refused.status_code, refused.json()["action"]) == (
        403,
        "compliance:personal_document:upload",
    )


@pytest.mark.rule("CMP-48")
async def test_key_brings_the_first_file_of_its_personal_document(office: Office) -> None:
    officer = await office.member()
    scopes = ["compliance:document:upload", "compliance:personal_document:upload"]
    text = await keys.key(office.host, officer, office.organization_id, scopes)
    bearer = {"Authorization": f"Bearer {text}"}
    body = {
        "organizationId": str(office.organization_id),
        "documentTypeCode": "certified_id_copy",
        **_WHY,
    }
    path = DOCUMENTS

    made = await office.api.post(path, json=body, headers=bearer)
    path = f"{DOCUMENTS}/{made.json()['id']}/content"
    brought = await office.api.put(path, content=pdf(), headers=bearer)
    await office.settle()
    again = await office.api.put(path, content=pdf(), headers=bearer)

    assert (made.status_code, brought.status_code, again.status_code) == (201, 202, 404)


@pytest.mark.rule("CMP-48")
async def test_evidence_of_a_hidden_document_does_not_exist(office: Office) -> None:
    officer, outsider = await office.member(), await office.member("contributor")
    approver = await office.member("approver")
    document = await _document(office, officer, "personal")
    made = (await office.link(officer, document, await office.requirement())).json()
    asked = (await office.ask(officer, made["id"])).json()
    organization = {"organizationId": str(office.organization_id)}
    outcome = {"outcome": "verified", "evidenceSha256": made["sha256"]}
    api, path = office.api, f"{EVIDENCE}/{made['id']}"
    verification = f"{VERIFICATIONS}/{asked['id']}"

    answers = [
        await api.get(path, headers=outsider.acting),
        await api.patch(path, json={"note": "Other"}, headers=outsider.acting),
        await api.get(verification, headers=outsider.acting),
        await office.ask(outsider, made["id"]),
        await office.decide(approver.acting, asked["id"], **outcome),
        await office.decide(approver.acting, asked["id"], claim=True),
        await api.post(f"{verification}/cancel", headers=outsider.acting),
    ]
    listed = await api.get(VERIFICATIONS, params=organization, headers=outsider.acting)
    known = await api.get(VERIFICATIONS, params=organization, headers=officer.acting)
    platform = await office.ask(officer, made["id"], requestedFrom="platform")

    assert [answer.status_code for answer in answers] == [404] * 7
    assert (listed.json()["items"], len(known.json()["items"])) == ([], 1)
    assert (platform.status_code, platform.json()["rule"]) == (422, "CMP-48")


@pytest.mark.rule("CMP-48")
async def test_suggestions_about_hidden_documents_are_left_out(office: Office) -> None:
    officer, bidder = await office.member(), await office.member("bid_manager")
    document = await _document(office, officer, "personal")
    own = await office.requirement(None)
    about = await _suggestion(office, document)
    citing = await _suggestion(office, document, target=own)
    path = f"/compliance/ai-suggestions?organizationId={office.organization_id}"

    hidden = await office.api.get(path, headers=bidder.acting)
    narrowed = await office.api.get(f"{path}&documentId={document['id']}", headers=bidder.acting)
    reviews = [
        await office.api.post(
            f"/compliance/ai-suggestions/{suggestion_id}/review",
            json={"decision": "accept"},
            headers=bidder.acting,
        )
        for suggestion_id in (about, citing)
    ]
    known = await office.api.get(path, headers=officer.acting)

    assert (hidden.json()["items"], narrowed.json()["items"]) == ([], [])
    assert [answer.status_code for answer in reviews] == [404, 404]
    assert {item["id"] for item in known.json()["items"]} == {about, citing}


@pytest.mark.rule("CMP-48")
async def test_upgrade_keeps_who_brought_a_document(office: Office) -> None:
    migration = import_module("thenga.domains.compliance.migrations.compliance_0003")
    first, second = await office.member("contributor"), await office.member("contributor")
    document = await _document(office, first, "confidential")
    added = (await office.add(second, "bank_letter", holderName=SECRET)).json()
    async with office.host.engines.connection("compliance", "compliance_system") as link:
        forget = "UPDATE compliance.document SET brought_by = NULL WHERE organization_id = $1"
        await link.execute(forget, office.organization_id)
        await link.execute(migration.FILL)

    rows = {str(row.id): row.brought_by for row in await office.rows(Document)}

    assert rows == {document["id"]: first.user_id, added["id"]: second.user_id}
