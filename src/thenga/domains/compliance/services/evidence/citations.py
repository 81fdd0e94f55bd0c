"""Evidence as other domains cite it, and what forms may say of it."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.compliance import public
from thenga.domains.compliance.services import documents
from thenga.domains.compliance.services.evidence import proofs
from thenga.domains.compliance.tables import (
    Document,
    DocumentStatus,
    DocumentVersion,
    Evidence,
    EvidenceLink,
    EvidenceStatus,
    Requirement,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day

Purpose = Literal["bid_form", "funding_application"]
_LIVE = (EvidenceStatus.SUBMITTED, EvidenceStatus.IN_REVIEW, EvidenceStatus.VERIFIED)
_SEALED_FOR = "bid_form"


async def resolve(
    read: Reader, refs: Sequence[public.EvidenceRef]
) -> list[public.ResolvedEvidence]:
    """What became of each citation, in the order asked."""
    ids = list({ref.evidence_id for ref in refs})
    if not ids:
        return []
    found = {one.id: one for one in await read.all(select(Evidence).where(among(Evidence.id, ids)))}
    papers = [one.document_id for one in found.values() if one.document_id is not None]
    erased = await _erased(read, papers)
    today = local_day(read.now)
    return [_resolved(ref, found.get(ref.evidence_id), erased, today) for ref in refs]


async def _erased(read: Reader, document_ids: Sequence[UUID]) -> set[UUID]:
    if not document_ids:
        return set()
    statement = select(Document.id).where(
        Document.organization_id == read.organization_id,
        among(Document.id, list(document_ids)),
        Document.status == DocumentStatus.ERASED,
    )
    return set(await read.values(statement))


def _resolved(
    ref: public.EvidenceRef, evidence: Evidence | None, erased: set[UUID], today: date
) -> public.ResolvedEvidence:
    if evidence is None:
        return public.ResolvedEvidence(ref=ref, state="unknown")
    is_over = evidence.valid_until is not None and evidence.valid_until < today
    state: public.CitedState = "live"
    if evidence.document_id in erased:
        state = "erased"
    elif ref.proof_version not in (None, evidence.document_version):
        state = "moved"
    elif is_over or evidence.status not in _LIVE:
        state = "stale"
    return public.ResolvedEvidence(
        ref=ref,
        state=state,
        valid_until=evidence.valid_until,
        sha256=evidence.sha256,
        document_id=evidence.document_id,
        document_version=None if evidence.document_id is None else evidence.document_version,
    )


async def describe_attestations(
    work: Work, codes: Sequence[str], *, purpose: Purpose, on_behalf_of: UUID | None
) -> list[public.Attestation]:
    """What a form may say of each requirement: the best verified proof of it, as far as the person
    who fills the form may read it (CMP-48)."""
    best = await _best(work, codes)
    told = [await _attestation(work, code, best.get(code), purpose, on_behalf_of) for code in codes]
    if purpose == _SEALED_FOR:
        named = [one.code for one in told if one.number is not None]
        work.note(
            "compliance.attestation.described",
            ("organization", work.organization_id),
            {
                "purpose": purpose,
                "codes": named,
                "onBehalfOf": None if on_behalf_of is None else str(on_behalf_of),
            },
        )
    return told


async def _best(read: Reader, codes: Sequence[str]) -> dict[str, Evidence]:
    statement = (
        select(Requirement.definition_code, Evidence.id)
        .join(
            EvidenceLink.__table__,
            sa.and_(
                EvidenceLink.organization_id == Requirement.organization_id,
                EvidenceLink.requirement_id == Requirement.id,
                EvidenceLink.removed_at.is_(None),
            ),
        )
        .join(
            Evidence.__table__,
            sa.and_(
                Evidence.organization_id == EvidenceLink.organization_id,
                Evidence.id == EvidenceLink.evidence_id,
            ),
        )
        .where(
            Requirement.organization_id == read.organization_id,
            among(Requirement.definition_code, list(codes)),
            Evidence.status == EvidenceStatus.VERIFIED,
        )
        .order_by(Evidence.valid_until.desc().nulls_first(), Evidence.id.desc())
        .limit(1000)
    )
    rows = await read.records(statement)
    first: dict[str, UUID] = {}
    for row in rows:
        first.setdefault(row[0], row[1])
    if not first:
        return {}
    found = await read.all(select(Evidence).where(among(Evidence.id, list(first.values()))))
    by_id = {one.id: one for one in found}
    return {code: by_id[evidence_id] for code, evidence_id in first.items()}


async def _attestation(
    work: Work, code: str, evidence: Evidence | None, purpose: Purpose, on_behalf_of: UUID | None
) -> public.Attestation:
    if evidence is None:
        return public.Attestation(code=code, state="missing")
    is_over = evidence.valid_until is not None and evidence.valid_until < local_day(work.now)
    state = "expired" if is_over else "met"
    stated: dict[str, Any] = {}
    number = None
    if evidence.document_id is not None:
        document = await work.get(Document, evidence.document_id)
        if not await documents.person_may_read(work, document, on_behalf_of):
            return public.Attestation(code=code, state=state)
        version = await proofs.version_of(work, evidence)
        number, stated = _numbers(work, version, purpose)
    level = stated.get("level")
    return public.Attestation(
        code=code,
        state=state,
        level=None if level is None else str(level),
        number=number,
        valid_until=evidence.valid_until,
        evidence_ref=public.EvidenceRef(
            evidence_id=evidence.id, proof_version=evidence.document_version
        ),
    )


def _numbers(
    work: Work, version: DocumentVersion, purpose: Purpose
) -> tuple[str | None, dict[str, Any]]:
    """The number of a paper; a sealed one, as a tax PIN, only for the form of a bid."""
    if purpose != _SEALED_FOR or version.attributes_sealed is None:
        return version.document_number, version.attributes
    stated = documents.plain_attributes(work.host, version)
    pin = stated.get("pin")
    return (version.document_number if pin is None else str(pin)), stated
