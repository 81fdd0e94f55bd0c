"""Papers and proofs as rows, for walks that need many and have no scanner."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

from tests.factories.compliance_documents import pdf
from thenga.domains.compliance.services import documents
from thenga.domains.compliance.tables import (
    Applicability,
    Document,
    DocumentVersion,
    Evidence,
    EvidenceLink,
    Origin,
    Requirement,
    Verification,
)
from thenga.kernel.access.actors import Actor, ActorKind, Scope
from thenga.kernel.access.origin import Origin as Because
from thenga.kernel.db.work import Work
from thenga.kernel.files.contents import ContentStatus
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id


def working(
    host: Host, organization_id: UUID, user_id: UUID, session_id: UUID | None = None
) -> Work:
    """A unit of work of a member."""
    actor = Actor(ActorKind.USER, user_id, session_id)
    scope = Scope(actor, organization_id=organization_id, user_id=user_id)
    return Work(host, "compliance", scope, Because("factory", "factory", "factory"))


async def document(
    host: Host, organization_id: UUID, user_id: UUID, *, is_clean: bool = True
) -> Document:
    """A report with a file that counts as scanned, or one that waits for its bytes."""
    work = working(host, organization_id, user_id)
    paper = Document(
        id=new_id(),
        organization_id=organization_id,
        document_type_code="csd_report",
        document_class="ordinary",
        subject_kind="organization",
        current_version=1 if is_clean else 0,
    )
    version = DocumentVersion(
        organization_id=organization_id,
        document_id=paper.id,
        number=1,
        file_name="report.pdf",
        attributes={},
        uploaded_by=user_id if is_clean else None,
    )
    if is_clean:
        area = f"compliance/clean/{organization_id}"
        kept = await host.files.put(area, _chunks(pdf(mark=str(paper.id))), most_bytes=100_000)
        version.content_status, version.object_key = ContentStatus.CLEAN, kept.key
        version.sha256, version.size, version.media_type = kept.sha256, kept.size, kept.media_type
    await work.add(paper)
    await work.add(version)
    await work.finish()
    return paper


async def requirement(host: Host, organization_id: UUID) -> Requirement:
    """What a tender asks for, in words."""
    work = working(host, organization_id, uuid4())
    made = await work.add(
        Requirement(
            organization_id=organization_id,
            origin=Origin.TENDER,
            tender_opportunity_id=uuid4(),
            title="A visit to the site",
            params={},
            subjects=[{"kind": "organization", "ref": None}],
            applicability=Applicability.APPLICABLE,
            because=[],
        )
    )
    await work.finish()
    return made


async def proof(host: Host, organization_id: UUID) -> Evidence:
    """An evidence that somebody else brought, linked to one requirement."""
    stranger = uuid4()
    paper = await document(host, organization_id, stranger)
    need = await requirement(host, organization_id)
    work = working(host, organization_id, stranger)
    version = await work.find(DocumentVersion, document_id=paper.id, number=1)
    assert version is not None
    made = await work.add(
        Evidence(
            organization_id=organization_id,
            proof_kind="document",
            proof_key=f"document/{paper.id}",
            document_id=paper.id,
            document_version=1,
            sha256=version.sha256,
            linked_by=stranger,
        )
    )
    await work.add(
        EvidenceLink(organization_id=organization_id, evidence_id=made.id, requirement_id=need.id)
    )
    await work.finish()
    return made


async def verification(
    host: Host, organization_id: UUID, by: UUID | None = None
) -> tuple[Verification, Evidence]:
    """A request to verify what somebody else brought."""
    evidence = await proof(host, organization_id)
    work = working(host, organization_id, by or uuid4())
    made = await work.add(
        Verification(
            organization_id=organization_id,
            evidence_id=evidence.id,
            method="manual",
            requested_from="internal",
            requested_by=work.actor.id,
            evidence_sha256=evidence.sha256,
            evidence_version=1,
        )
    )
    await work.finish()
    return made, evidence


async def ticket(host: Host, organization_id: UUID, user_id: UUID, session_id: UUID) -> str:
    """A link that the person has just asked for."""
    paper = await document(host, organization_id, user_id)
    work = working(host, organization_id, user_id, session_id)
    link = await documents.make_link(work, paper.id, version=None, purpose=None)
    await work.finish()
    return link.ticket


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content


def named(**values: Any) -> dict[str, str]:
    """Identifiers as a body names them."""
    return {name: str(value) for name, value in values.items()}
