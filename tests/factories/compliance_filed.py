"""A document of a class with everything that hangs on it, as rows and bytes without a scanner."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import orjson

from tests.factories import compliance as factory
from thenga.domains.compliance.lifecycles import EvidenceLifecycle
from thenga.domains.compliance.tables import (
    AiSuggestion,
    Document,
    DocumentVersion,
    Evidence,
    EvidenceLink,
    Origin,
    Verification,
)
from thenga.kernel.db import sealed
from thenga.kernel.files.contents import ContentLifecycle
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id

_ENDS = date(2028, 2, 29)
_TYPES = {
    "ordinary": "csd_report",
    "confidential": "tcs_pin_letter",
    "personal": "certified_id_copy",
}
_PROOFS = {"tax_compliance": "tcs_pin_letter", "csd_registration": "csd_report"}


@dataclass(frozen=True, slots=True)
class Filed:
    """A document with everything that hangs on it."""

    document_id: UUID
    evidence_id: UUID
    verification_id: UUID
    suggestion_id: UUID
    requirement_id: UUID


async def filed(
    host: Host,
    organization_id: UUID,
    document_class: str,
    *,
    mark: str = "Certificate",
    brought_by: UUID | None = None,
    type_code: str | None = None,
    ends: date = _ENDS,
) -> Filed:
    """A clean document, linked, waiting for verification and for a decision on a suggestion.

    Every text of it and of what hangs on it holds the mark, and so does its file.
    """
    content = f"%PDF-1.7 {mark} {uuid4()}".encode()
    area = f"compliance/filed/{organization_id}"
    stored = await host.files.put(area, _once(content), most_bytes=1000)
    type_code = type_code or _TYPES[document_class]
    proof = {"documentTypes": [type_code]}
    need = await factory.requirement(host, organization_id, proof=proof)
    work = factory.working(host, organization_id)
    document = await work.add(
        _document(organization_id, document_class, type_code, mark, brought_by, ends)
    )
    version = _version(document, mark, brought_by)
    version.object_key, version.sha256, version.size = stored.key, stored.sha256, stored.size
    version.media_type = stored.media_type
    version.received_at = version.scanned_at = work.now
    ContentLifecycle.receive(version, at=work.now)
    ContentLifecycle.pass_(version, at=work.now)
    await work.add(version)
    brought = await work.add(_evidence(document, stored.sha256, mark))
    await work.add(
        EvidenceLink(
            organization_id=organization_id, evidence_id=brought.id, requirement_id=need.id
        )
    )
    check = await work.add(_verification(brought, mark))
    read = await work.add(_suggestion(document, mark, work.now))
    await work.finish()
    return Filed(document.id, brought.id, check.id, read.id, need.id)


async def proven(
    host: Host,
    organization_id: UUID,
    code: str,
    document_class: str,
    *,
    number: str,
    brought_by: UUID | None = None,
    ends: date = _ENDS,
) -> Filed:
    """A verified document of this class that proves a requirement of the catalogue and states its
    number; of a tax letter it is the sealed PIN."""
    made = await filed(
        *(host, organization_id, document_class),
        brought_by=brought_by,
        type_code=_PROOFS[code],
        ends=ends,
    )
    need = await factory.requirement(
        host, organization_id, origin=Origin.CATALOGUE, definition_code=code
    )
    work = factory.working(host, organization_id)
    found = await work.find(DocumentVersion, document_id=made.document_id)
    assert found is not None
    version = await work.hold(found)
    if code == "tax_compliance":
        version.attributes_sealed = sealed.seal(
            *(host, DocumentVersion, "attributes_sealed", orjson.dumps({"pin": number})),
            organization_id=organization_id,
            id=version.id,
        )
    else:
        version.document_number = number
    await work.save(version)
    proof = await work.lock(Evidence, made.evidence_id, beside=True)
    EvidenceLifecycle.verify(proof, at=work.now)
    await work.save(proof)
    await work.add(
        EvidenceLink(organization_id=organization_id, evidence_id=proof.id, requirement_id=need.id)
    )
    await work.finish()
    return made


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _document(
    organization_id: UUID,
    document_class: str,
    type_code: str,
    mark: str,
    brought_by: UUID | None,
    ends: date,
) -> Document:
    return Document(
        id=new_id(),
        organization_id=organization_id,
        document_type_code=type_code,
        document_class=document_class,
        title=f"{mark} title",
        subject_kind="organization",
        brought_by=brought_by,
        purpose=f"{mark} purpose",
        basis=f"{mark} basis",
        current_version=1,
        expires_on=ends,
        valid_until=ends,
        valid_basis="printed",
        renewal_expected_on=ends,
        renewal_reference=f"{mark} renewal",
        renewal_note=f"{mark} renewal note",
    )


def _version(document: Document, mark: str, brought_by: UUID | None) -> DocumentVersion:
    return DocumentVersion(
        organization_id=document.organization_id,
        document_id=document.id,
        number=1,
        file_name=f"{mark}.pdf",
        issued_on=date(2026, 3, 1),
        expires_on=document.expires_on,
        document_number=f"{mark} number",
        issuer=f"{mark} issuer",
        holder_name=f"{mark} holder",
        attributes={"surname": f"{mark} attribute"},
        valid_until=document.valid_until,
        valid_basis="printed",
        uploaded_by=brought_by,
    )


def _evidence(document: Document, sha256: str, mark: str) -> Evidence:
    return Evidence(
        id=new_id(),
        organization_id=document.organization_id,
        proof_kind="document",
        proof_key=f"document/{document.id}",
        document_id=document.id,
        document_version=1,
        note=f"{mark} note",
        sha256=sha256,
        valid_until=document.valid_until,
    )


def _verification(evidence: Evidence, mark: str) -> Verification:
    return Verification(
        organization_id=evidence.organization_id,
        evidence_id=evidence.id,
        method="manual",
        requested_from="internal",
        evidence_sha256=evidence.sha256,
        evidence_version=1,
        note=f"{mark} finding",
        found={"surname": f"{mark} found"},
        source={"name": f"{mark} source", "reference": None, "document_id": None},
    )


def _suggestion(document: Document, mark: str, now: datetime) -> AiSuggestion:
    source = {
        "document_id": str(document.id),
        "version": 1,
        "page": 1,
        "excerpt": f"{mark} excerpt",
    }
    return AiSuggestion(
        organization_id=document.organization_id,
        key=f"read/{uuid4()}",
        kind="document_facts",
        target_type="document",
        target_id=document.id,
        target_field="holderName",
        base_version=1,
        proposed={"holderName": f"{mark} proposed"},
        proposed_hash=uuid4().hex,
        confidence=Decimal("0.9"),
        sources=[source],
        produced_by={"name": "reader", "version": "1", "execution_id": None},
        expires_at=now + timedelta(days=60),
    )
