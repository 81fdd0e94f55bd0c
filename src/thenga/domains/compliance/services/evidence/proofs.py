"""The proof of an evidence: a clean version of a document, a known reference or a declaration."""

import hashlib
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import rfc8785
from dateutil.relativedelta import relativedelta

from thenga.domains.compliance import public
from thenga.domains.compliance.services import documents, requirements
from thenga.domains.compliance.services.evidence.fit import ProofFacts
from thenga.domains.compliance.tables import (
    Document,
    DocumentVersion,
    Evidence,
    KnownReference,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import NotFound, Problem, extensions
from thenga.kernel.files import contents
from thenga.kernel.values.calendar import local_day

_STANDING_MONTHS = 12  # of a declaration; a form for each bid is Bid's


class Unlinkable(Problem):
    """The proof or one of the requirements was not found. Upload a document, name a certificate of
    this organization, or declare a statement from the catalogue."""

    code, status, title = "compliance-unlinkable", 422, "This proof cannot be linked"
    members = extensions(questions=(dict[str, str] | None, "Questions of the statement, by code."))


@dataclass(frozen=True, slots=True)
class Cited:
    """A proof as an evidence keeps it; `columns` are those that name it there."""

    sha256: str
    facts: ProofFacts
    columns: dict[str, Any]
    brought_by: frozenset[UUID] = field(default_factory=frozenset)


async def cite_document(read: Reader, document_id: UUID, number: int | None) -> Cited:
    """A version of a document that was found clean."""
    document = await documents.get_document(read, document_id)
    wanted = number or document.current_version or document.latest_version
    version = await read.find(DocumentVersion, document_id=document_id, number=wanted)
    if version is None:
        raise NotFound()
    contents.clean(version)
    return of_version(document, version)


async def readable_evidence(read: Reader, evidence_id: UUID) -> Evidence:
    """An evidence for a caller who may read the document that it rests on (CMP-48)."""
    async with read.separate_reader() as other:  # Identity may be asked
        evidence = await other.get(Evidence, evidence_id)
        if evidence.document_id is not None:
            document = await other.get(Document, evidence.document_id)
            await documents.check_readable(other, document)
    return evidence


async def cite_reference(
    read: Reader,
    *,
    domain: str,
    type: str,  # noqa: A002
    reference_id: UUID,
) -> Cited:
    """A certificate that its domain told us of and did not revoke."""
    known = await read.find(KnownReference, domain=domain, type=type, reference_id=reference_id)
    if known is None or known.revoked_at is not None:
        raise Unlinkable("This reference was not found in your organization, or was revoked.")
    key = f"{domain}/{type}/{reference_id}"
    return Cited(
        sha256=hashlib.sha256(key.encode()).hexdigest(),
        facts=ProofFacts(code=type, valid_until=known.valid_until),
        columns={
            "proof_kind": "reference",
            "proof_key": key,
            "reference": {"domain": domain, "type": type, "id": str(reference_id)},
        },
    )


def cite_declaration(read: Reader, statement_code: str, answers: dict[str, Any]) -> Cited:
    """A statement with an answer to each of its questions; it stands for twelve months."""
    questions = requirements.statement_questions(statement_code)
    if questions is not None and questions.keys() != answers.keys():
        raise Unlinkable(
            f"Answer each question of `{statement_code}` by its code: {', '.join(questions)}.",
            questions=questions,
        )
    stated: Any = {"statementCode": statement_code, "answers": answers}
    today = local_day(read.now)
    return Cited(
        sha256=hashlib.sha256(rfc8785.dumps(stated)).hexdigest(),
        facts=ProofFacts(code=statement_code, issued_on=today, valid_until=_standing(today)),
        columns={
            "proof_kind": "declaration",
            "proof_key": f"declaration/{statement_code}/{today.isoformat()}",
            "statement_code": statement_code,
            "answers": answers,
        },
    )


async def facts_now(read: Reader, evidence: Evidence) -> ProofFacts:
    """What the proof of a stored evidence says now."""
    if evidence.document_id is not None:
        document = await read.get(Document, evidence.document_id)
        version = await version_of(read, evidence)
        return facts_of(document, version)
    if evidence.statement_code is not None:
        return ProofFacts(
            code=evidence.statement_code,
            issued_on=local_day(evidence.created_at),
            valid_until=evidence.valid_until,
        )
    reference = evidence.reference or {}
    return ProofFacts(code=str(reference.get("type")), valid_until=evidence.valid_until)


async def version_of(read: Reader, evidence: Evidence) -> DocumentVersion:
    """The version of the document that an evidence rests on."""
    found = await read.find(
        DocumentVersion, document_id=evidence.document_id, number=evidence.document_version
    )
    if found is None:
        raise LookupError(f"{evidence!r} names no version")
    return found


def of_version(document: Document, version: DocumentVersion) -> Cited:
    """A version as an evidence keeps it, with the people who brought it."""
    by = {one for one in (version.uploaded_by, version.facts_by) if one is not None}
    return Cited(
        sha256=str(version.sha256),
        facts=facts_of(document, version),
        columns={
            "proof_kind": "document",
            "proof_key": f"document/{document.id}",
            "document_id": document.id,
            "document_version": version.number,
        },
        brought_by=frozenset(by),
    )


def told_of(evidence: Evidence) -> public.Proof:
    """The proof as events name it; a declaration is its own proof."""
    if evidence.document_id is not None:
        return public.Proof(domain="compliance", type="document", id=evidence.document_id)
    if evidence.reference is not None:
        return public.Proof.model_validate(evidence.reference)
    return public.Proof(domain="compliance", type="declaration", id=evidence.id)


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
    end: date = day + relativedelta(months=_STANDING_MONTHS) - timedelta(days=1)
    return end
