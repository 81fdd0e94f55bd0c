"""Calls of documents, downloads, evidence and verifications."""

from typing import Any
from uuid import UUID, uuid4

from tests.factories import compliance_rows as rows
from tests.factories.compliance_documents import pdf
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Ids, Maker, Sent
from thenga.kernel.process.host import Host


def _acting(organization_id: UUID) -> dict[str, str]:
    return {"X-Organization-Id": str(organization_id)}


async def _listing(host: Host, who: Person, organization_id: UUID) -> Sent:
    await rows.document(host, organization_id, who.user_id)
    return Sent({"organizationId": organization_id}, headers=_acting(organization_id))


async def _add_document(host: Host, who: Person, organization_id: UUID) -> Sent:
    title = f"Report of the auditor {uuid4().hex[:8]}"

    def body(ids: Ids) -> Body:
        named = {"organizationId": str(ids["organization"])}
        return named | {"documentTypeCode": "csd_report", "title": title}

    return Sent({"organization": organization_id}, body, _acting(organization_id))


def _of_document(given: dict[str, Any] | None = None) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await rows.document(host, organization_id, who.user_id)
        body = given and {n: v.replace("*", uuid4().hex[:8]) for n, v in given.items()}
        return Sent({"documentId": made.id}, lambda _: body, _acting(organization_id))

    return make


async def _content(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await rows.document(host, organization_id, who.user_id, is_clean=False)
    content = pdf(mark=str(made.id))
    return Sent({"documentId": made.id}, lambda _: content, _acting(organization_id))


async def _download(host: Host, who: Person, organization_id: UUID) -> Sent:
    ticket = await rows.ticket(host, organization_id, who.user_id, who.session_id)
    return Sent(parts={"ticket": ticket})


async def _link(host: Host, who: Person, organization_id: UUID) -> Sent:
    paper = await rows.document(host, organization_id, who.user_id)
    need = await rows.requirement(host, organization_id)
    ids = {"organization": organization_id, "documentId": paper.id, "requirementId": need.id}

    def body(given: Ids) -> Body:
        named = rows.named(organizationId=given["organization"], documentId=given["documentId"])
        return named | {"requirementIds": [str(given["requirementId"])]}

    return Sent(ids, body, _acting(organization_id))


def _of_evidence(given: dict[str, Any] | None = None) -> Maker:
    async def make(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await rows.proof(host, organization_id)
        body = given and {n: v.replace("*", uuid4().hex[:8]) for n, v in given.items()}
        return Sent({"evidenceId": made.id}, lambda _: body, _acting(organization_id))

    return make


async def _request(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await rows.proof(host, organization_id)
    ids = {"organization": organization_id, "evidenceId": made.id}

    def body(given: Ids) -> Body:
        named = rows.named(organizationId=given["organization"], evidenceId=given["evidenceId"])
        return named | {"method": "manual"}

    return Sent(ids, body, _acting(organization_id))


async def _verification(host: Host, who: Person, organization_id: UUID) -> Sent:
    made, _ = await rows.verification(host, organization_id)
    return Sent({"verificationId": made.id}, headers=_acting(organization_id))


async def _cancel(host: Host, who: Person, organization_id: UUID) -> Sent:
    made, _ = await rows.verification(host, organization_id, by=who.user_id)
    return Sent({"verificationId": made.id}, headers=_acting(organization_id))


async def _decide(host: Host, who: Person, organization_id: UUID) -> Sent:
    made, evidence = await rows.verification(host, organization_id)
    body = {
        "outcome": "verified",
        "evidenceSha256": evidence.sha256,
        "note": f"Seen {uuid4().hex[:8]}",
    }
    return Sent({"verificationId": made.id}, lambda _: body, _acting(organization_id))


MAKERS: dict[str, Maker] = {
    "add_document": _add_document,
    "list_documents": _listing,
    "get_document": _of_document(),
    "change_document": _of_document({"title": "Report of the auditor *"}),
    "replace_document_content": _content,
    "create_download_link": _of_document({"purpose": "For the bid *"}),
    "get_download": _download,
    "create_evidence": _link,
    "get_evidence": _of_evidence(),
    "change_evidence": _of_evidence({"note": "See page *"}),
    "request_compliance_verification": _request,
    "list_verifications": _listing,
    "get_verification": _verification,
    "decide_verification": _decide,
    "cancel_verification": _cancel,
}
QUERIES = {
    "list_documents": "?organizationId={organizationId}",
    "list_verifications": "?organizationId={organizationId}",
}
