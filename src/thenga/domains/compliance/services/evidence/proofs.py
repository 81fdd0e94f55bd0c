"""The proof of an evidence: a clean version of a document, a known reference or a declaration."""

import hashlib
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import rfc8785
from dateutil.relativedelta import relativedelta
from thenga.domains.compliance.tables import (
    Document,
    DocumentVersion,
    Evidence,
    KnownReference,
)

from thenga.domains.compliance.services import documents
from thenga.domains.compliance.services.evidence.fit import ProofFacts
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound, Problem
from thenga.kernel.files import contents
from thenga.kernel.values.calendar import local_day

_STANDING_MONTHS = 12  # of a declaration; a form for each bid is Bid's


class Unlinkable(Problem):
    """This proof or one of the requirements is not known. Upload a document, name a certificate of
    this organization, or declare a statement of the catalogue."""

    code, status, title = "compliance-unlinkable", 422, "This proof cannot be linked"


@dataclass(frozen=True, slots=True)
class Cited:
    """A proof as an evidence keeps it."""

    kind: str
    domain: str
    type: str
    id: UUID | None  # a declaration is its own proof
    version: int
    sha256: str
    facts: ProofFacts
    brought_by: frozenset[UUID] = field(default_factory=frozenset)
    declaration: dict[str, Any] | None = None


async def cite_document(read: Reader, document_id: UUID, number: int | None) -> Cited:
    """A version of a document that was found clean."""
    document = await documents.get_document(read, document_id)
    wanted = number or document.current_version or document.newest_version
    version = await read.find(DocumentVersion, document_id=document_id, number=wanted)
    if version is None:
        raise NotFound()
    file = contents.clean(version)
    return _of_version(document, version, file.sha256)


async def cite_reference(
    read: Reader,
    *,
    domain: str,
    type: str,
    reference_id: UUID,  # noqa: A002
) -> Cited:
    """A certificate that its domain told us of and did not revoke."""
    known = await read.find(KnownReference, domain=domain, type=type, reference_id=reference_id)
    if known is None or known.revoked:
        raise Unlinkable("This reference is not known to this organization, or was revoked.")
    named = f"{domain}/{type}/{reference_id}/{known.reference_version}"
    return Cited(
        kind="reference",
        domain=domain,
        type=type,
        id=reference_id,
        version=known.reference_version,
        sha256=hashlib.sha256(named.encode()).hexdigest(),
        facts=ProofFacts(code=type, valid_until=known.valid_until),
    )


def cite_declaration(read: Reader, statement_code: str, answers: dict[str, Any]) -> Cited:
    """A statement with its answers; it stands for twelve months."""
    stated = {"statementCode": statement_code, "answers": answers}
    today = local_day(read.now)
    return Cited(
        kind="declaration",
        domain="compliance",
        type="declaration",
        id=None,
        version=1,
        sha256=hashlib.sha256(rfc8785.dumps(stated)).hexdigest(),
        facts=ProofFacts(code=statement_code, issued_on=today, valid_until=_standing(today)),
        declaration=stated,
    )


async def cited_by(read: Reader, evidence: Evidence) -> Cited | None:
    """The proof that a stored evidence rests on, as it stands now; None if it is gone."""
    if evidence.proof_kind == "document":
        document = await read.find(Document, id=evidence.proof_id)
        version = await read.find(
            DocumentVersion, document_id=evidence.proof_id, number=evidence.proof_version
        )
        if document is None or version is None:
            return None
        return _of_version(document, version, evidence.sha256)
    if evidence.proof_kind == "reference":
        facts = ProofFacts(code=evidence.proof_type, valid_until=evidence.valid_until)
    else:
        stated = evidence.declaration or {}
        facts = ProofFacts(
            code=str(stated.get("statementCode")),
            issued_on=local_day(evidence.created_at),
            valid_until=evidence.valid_until,
        )
    return Cited(
        kind=evidence.proof_kind,
        domain=evidence.proof_domain,
        type=evidence.proof_type,
        id=evidence.proof_id,
        version=evidence.proof_version,
        sha256=evidence.sha256,
        facts=facts,
        declaration=evidence.declaration,
    )


def _of_version(document: Document, version: DocumentVersion, sha256: str) -> Cited:
    by = {one for one in (version.uploaded_by, version.facts_by) if one is not None}
    return Cited(
        kind="document",
        domain="compliance",
        type="document",
        id=document.id,
        version=version.number,
        sha256=sha256,
        facts=facts_of(document, version),
        brought_by=frozenset(by),
    )


def facts_of(document: Document, version: DocumentVersion) -> ProofFacts:
    """What a version says, for its fit."""
    return ProofFacts(
        code=document.document_type_code,
        subject_kind=document.subject_kind,
        subject_ref=document.subject_ref,
        period=version.period,
        issued_on=version.issued_on,
        valid_until=version.valid_until,
        attributes=version.attributes,
    )


def _standing(day: date) -> date:
    return day + relativedelta(months=_STANDING_MONTHS) - timedelta(days=1)
