"""Calls of Compliance: the profile, requirements, documents, evidence and what follows."""

from typing import Any
from uuid import UUID, uuid4

from tests.factories import compliance as factory
from tests.factories import identity as people
from tests.factories.identity import Person
from tests.suites.calls.sending import Body, Ids, Maker, Sent, of_organization
from thenga.kernel.host import Host

FRESH = {"If-Match": '"1"'}


def _of(ids: Ids, **more: Any) -> dict[str, Any]:
    return {"organizationId": str(ids["organizationId"])} | more


async def _new_profile(host: Host, who: Person, organization_id: UUID) -> Sent:
    """A company has one profile, so each call is of a member of a new company."""
    other = await people.member(host, uuid4(), role="owner")
    headers = other.acting
    body = {"spheres": ["national"], "answers": {}}
    return Sent({"organizationId": other.organization_id}, lambda _: body, headers, stand_in=True)


def _on_profile(given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.profile(host, organization_id)
        body = given and {"responsibleUserId": str(uuid4())}
        return Sent({"profileId": made.id}, lambda _: body)

    return sent


async def _new_requirement(host: Host, who: Person, organization_id: UUID) -> Sent:
    title = f"A visit {uuid4().hex[:12]}"
    return Sent({"organizationId": organization_id}, lambda ids: _of(ids, title=title))


def _on_requirement(given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.requirement(host, organization_id)
        body = given and {"title": f"A visit {uuid4().hex[:12]}"}
        return Sent({"requirementId": made.id}, lambda _: body, FRESH if given else {})

    return sent


async def _new_document(host: Host, who: Person, organization_id: UUID) -> Sent:
    title = f"Report {uuid4().hex[:12]}"
    return Sent(
        {"organizationId": organization_id},
        lambda ids: _of(ids, documentTypeCode="csd_report", title=title, fileName="report.pdf"),
    )


async def _content(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.awaited(host, organization_id, who)
    return Sent(
        {"documentId": made.id},
        headers={"Content-Type": "application/pdf"},
        content=factory.PAPER + uuid4().hex.encode(),
    )


def _on_document(given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made, _ = await factory.document(host, organization_id, who)
        body = given and {n: v.replace("*", uuid4().hex[:8]) for n, v in given.items()}
        return Sent({"documentId": made.id}, lambda _: body)

    return sent


async def _linking(host: Host, who: Person, organization_id: UUID) -> Sent:
    made, _ = await factory.document(host, organization_id, who)
    return Sent({"documentId": made.id}, lambda _: {})


async def _download(host: Host, who: Person, organization_id: UUID) -> Sent:
    text = await factory.ticket(host, organization_id, who)
    return Sent(parts={"ticket": text})


async def _new_evidence(host: Host, who: Person, organization_id: UUID) -> Sent:
    paper, _ = await factory.document(host, organization_id, who)
    asked = await factory.requirement(host, organization_id)
    ids = {"organizationId": organization_id, "documentId": paper.id, "requirementId": asked.id}

    def body(ids: Ids) -> dict[str, Any]:
        named = [str(ids["requirementId"])]
        return _of(ids, documentId=str(ids["documentId"]), requirementIds=named)

    return Sent(ids, body)


def _on_evidence(given: Body = None) -> Maker:
    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        made = await factory.evidence(host, organization_id)
        body = given and {"note": f"Seen {uuid4().hex[:8]}"}
        return Sent({"evidenceId": made.id}, lambda _: body)

    return sent


async def _new_verification(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.evidence(host, organization_id)
    ids = {"organizationId": organization_id, "evidenceId": made.id}
    return Sent(ids, lambda ids: _of(ids, evidenceId=str(ids["evidenceId"]), method="manual"))


async def _on_verification(host: Host, who: Person, organization_id: UUID) -> Sent:
    made, _ = await factory.verification(host, organization_id)
    return Sent({"verificationId": made.id})


async def _deciding(host: Host, who: Person, organization_id: UUID) -> Sent:
    made, evidence = await factory.verification(host, organization_id)
    body = {"outcome": "verified", "evidenceSha256": evidence.sha256}
    return Sent({"verificationId": made.id}, lambda _: body)


async def _treating(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.risk(host, organization_id)
    body = {"title": f"A risk {uuid4().hex[:12]}"}
    return Sent({"riskId": made.id}, lambda _: body, FRESH)


async def _reviewing(host: Host, who: Person, organization_id: UUID) -> Sent:
    made = await factory.suggestion(host, organization_id, who)
    body = {"decision": "reject", "reasonCode": "wrong"}
    return Sent({"suggestionId": made.id}, lambda _: body)


MAKERS: dict[str, Maker] = {
    "create_compliance_profile": _new_profile,
    "get_compliance_profile": _on_profile(),
    "change_compliance_profile": _on_profile({"responsibleUserId": ""}),
    "create_requirement": _new_requirement,
    "list_requirements": of_organization,
    "get_requirement": _on_requirement(),
    "change_requirement": _on_requirement({"title": ""}),
    "add_document": _new_document,
    "replace_document_content": _content,
    "list_documents": of_organization,
    "get_document": _on_document(),
    "change_document": _on_document({"title": "Report *"}),
    "create_download_link": _linking,
    "get_download": _download,
    "create_evidence": _new_evidence,
    "get_evidence": _on_evidence(),
    "change_evidence": _on_evidence({"note": ""}),
    "request_compliance_verification": _new_verification,
    "list_verifications": of_organization,
    "get_verification": _on_verification,
    "decide_verification": _deciding,
    "list_expiry": of_organization,
    "get_readiness": of_organization,
    "list_risks": of_organization,
    "change_risk": _treating,
    "list_ai_suggestions": of_organization,
    "review_ai_suggestion": _reviewing,
    "get_za_context": of_organization,
}
