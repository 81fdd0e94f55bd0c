"""Rows of Compliance as its services would leave them, without a scanner or a worker."""

from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from tests.factories.identity import Person
from thenga.domains.compliance.tables import (
    AiSuggestion,
    Applicability,
    Document,
    DocumentVersion,
    DownloadTicket,
    Evidence,
    EvidenceLink,
    Origin,
    Profile,
    Requirement,
    Risk,
    TrackedTender,
    Verification,
)
from thenga.kernel.access import origin as origins
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.crypto import tokens
from thenga.kernel.db.work import Work
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.host import Host

PAPER = b"%PDF-1.4\n%%EOF\n"


def working(host: Host, organization_id: UUID) -> Work:
    origin = origins.Origin(action="factory", request_id="factory", correlation_id="factory")
    return Work(host, "compliance", Scope(SYSTEM, organization_id), origin)


async def profile(host: Host, organization_id: UUID) -> Profile:
    """The profile of a company; the one that is there, if there is one."""
    work = working(host, organization_id)
    try:
        found = await work.find(Profile, organization_id=organization_id)
        if found is None:
            found = await work.add(
                Profile(
                    organization_id=organization_id,
                    spheres=["national"],
                    answers={},
                    fact_basis=[],
                    facts_missing=[],
                )
            )
        await work.finish()
    finally:
        await work.close()
    return found


async def requirement(host: Host, organization_id: UUID, **fields: Any) -> Requirement:
    """An own requirement that a CSD report proves."""
    known: dict[str, Any] = {
        "origin": Origin.OWN,
        "title": f"A report {uuid4().hex[:12]}",
        "component": "registration",
        "weight": 2,
        "gate": "soft",
        "proof": {"documentTypes": ["csd_report"]},
        "params": {},
        "subjects": [{"kind": "organization", "ref": None}],
        "applicability": Applicability.APPLICABLE,
        "because": [],
    }
    return await _added(
        host, organization_id, Requirement(organization_id=organization_id, **known | fields)
    )


async def tracked_tender(host: Host, organization_id: UUID) -> TrackedTender:
    """A tender that a company watches."""
    row = TrackedTender(
        organization_id=organization_id, tender_opportunity_id=uuid4(), interest="matched", terms=[]
    )
    return await _added(host, organization_id, row)


async def awaited(host: Host, organization_id: UUID, who: Person) -> Document:
    """A document whose first bytes are still to come."""
    row = Document(
        organization_id=organization_id,
        document_type_code="csd_report",
        document_class="ordinary",
        title=f"Report {uuid4().hex[:12]}",
        subject_kind="organization",
    )
    await _added(host, organization_id, row)
    await _added(
        host,
        organization_id,
        DocumentVersion(
            organization_id=organization_id,
            document_id=row.id,
            number=1,
            attributes={},
            uploaded_by=who.user_id,
            facts_by=who.user_id,
        ),
    )
    return row


async def document(
    host: Host, organization_id: UUID, who: Person
) -> tuple[Document, DocumentVersion]:
    """A document with one clean version in the store."""

    async def chunks() -> Any:
        yield PAPER + uuid4().hex.encode()

    kept = await host.files.put(
        f"compliance/clean/{organization_id}", chunks(), most_bytes=1_000_000
    )
    row = Document(
        organization_id=organization_id,
        document_type_code="csd_report",
        document_class="ordinary",
        title=f"Report {uuid4().hex[:12]}",
        subject_kind="organization",
        current_version=1,
    )
    await _added(host, organization_id, row)
    version = DocumentVersion(
        organization_id=organization_id,
        document_id=row.id,
        number=1,
        attributes={},
        uploaded_by=who.user_id,
        facts_by=who.user_id,
        content_status=ContentStatus.CLEAN,
        object_key=kept.key,
        sha256=kept.sha256,
        size=kept.size,
        media_type="application/pdf",
    )
    return row, await _added(host, organization_id, version)


async def ticket(host: Host, organization_id: UUID, who: Person) -> str:
    """A ticket that downloads a document for this person."""
    found, version = await document(host, organization_id, who)
    text = tokens.mint(tokens.Prefix.TICKET)
    work = working(host, organization_id)
    await work.present(tokens.digest(text))
    await work.add(
        DownloadTicket(
            hash=tokens.digest(text),
            organization_id=organization_id,
            document_id=found.id,
            version_id=version.id,
            user_id=who.user_id,
            session_id=who.session_id,
            uses_left=5,
            expires_at=work.now + timedelta(minutes=5),
        )
    )
    await work.finish()
    return text


async def evidence(host: Host, organization_id: UUID, *, linked_by: UUID | None = None) -> Evidence:
    """A clean document of somebody else, linked to a requirement."""
    other = Person(linked_by or uuid4(), uuid4(), "", "")
    found, version = await document(host, organization_id, other)
    asked = await requirement(host, organization_id)
    row = Evidence(
        organization_id=organization_id,
        proof_kind="document",
        proof_key=f"compliance/document/{found.id}",
        document_id=found.id,
        document_version=1,
        sha256=version.sha256,
        linked_by=other.user_id,
    )
    await _added(host, organization_id, row)
    link = EvidenceLink(
        organization_id=organization_id, evidence_id=row.id, requirement_id=asked.id
    )
    await _added(host, organization_id, link)
    return row


async def verification(host: Host, organization_id: UUID) -> tuple[Verification, Evidence]:
    """A verification that somebody else asked for."""
    found = await evidence(host, organization_id)
    row = Verification(
        organization_id=organization_id,
        evidence_id=found.id,
        method="manual",
        requested_from="internal",
        requested_by=uuid4(),
        evidence_sha256=found.sha256,
        evidence_version=1,
    )
    return await _added(host, organization_id, row), found


async def risk(host: Host, organization_id: UUID, **fields: Any) -> Risk:
    """A risk that a rule has raised."""
    known: dict[str, Any] = {
        "rule_code": "gate_expiring",
        "subject": uuid4().hex,
        "title": "Tax compliance status expires soon",
        "category": "tax",
        "likelihood": 4,
        "impact": 4,
        "score": 16,
        "level": "critical",
        "actions": [],
    }
    return await _added(
        host, organization_id, Risk(organization_id=organization_id, **known | fields)
    )


async def suggestion(host: Host, organization_id: UUID, who: Person) -> AiSuggestion:
    """What a machine read out of a paper."""
    found, _ = await document(host, organization_id, who)
    proposed = {"issuedOn": "2026-10-01"}
    work = working(host, organization_id)
    now = work.now
    await work.close()
    row = AiSuggestion(
        organization_id=organization_id,
        key=uuid4().hex,
        kind="document_facts",
        target_type="document",
        target_id=found.id,
        base_version=1,
        proposed=proposed,
        proposed_hash=sha256(repr(proposed).encode()).hexdigest(),
        confidence="0.9",
        sources=[{"documentId": str(found.id), "version": 1, "page": 1, "excerpt": "1 October"}],
        produced_by={"name": "read_certificate", "version": "1"},
        expires_at=now + timedelta(days=60),
    )
    return await _added(host, organization_id, row)


async def _added(host: Host, organization_id: UUID, row: Any) -> Any:
    work = working(host, organization_id)
    await work.add(row)
    await work.finish()
    return row
