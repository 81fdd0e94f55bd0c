"""Reads what readiness is computed from: requirements, definitions and linked proofs.

Three statements for a company, whatever the day and the tender. What machines suggest is not among
them (CMP-36).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.compliance.services.evidence import ProofFacts
from thenga.domains.compliance.services.readiness.values import (
    Assurance,
    Doubt,
    Rules,
    Standing,
)
from thenga.domains.compliance.settings import (
    BLOCKED_CAP,
    COMPONENT_WEIGHTS,
    MIN_ASSURANCE,
)
from thenga.domains.compliance.tables import (
    Document,
    DocumentVersion,
    Evidence,
    EvidenceLink,
    EvidenceStatus,
    Requirement,
    RequirementDefinition,
    Verification,
    VerificationStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.calendar import HOME_ZONE, local_day

_MOST = 5000
_DOUBTED = frozenset({"partial_match", "ambiguous"})
_RETURNED_WHEN_STALE = frozenset({"replaced", "withdrawn"})
_STANDINGS = {
    EvidenceStatus.VERIFIED: Standing.VERIFIED,
    EvidenceStatus.NEEDS_REVISION: Standing.RETURNED,
    EvidenceStatus.REJECTED: Standing.REJECTED,
}

_verified = (
    select(
        Verification.organization_id,
        Verification.evidence_id,
        sa.func.max(Verification.checked_at).label("verified_at"),
    )
    .where(Verification.status == VerificationStatus.VERIFIED)
    .group_by(Verification.organization_id, Verification.evidence_id)
    .subquery("verified")
)
PROOFS = (
    select(
        EvidenceLink.requirement_id,
        Evidence.id,
        Evidence.proof_kind,
        Evidence.document_version,
        Evidence.statement_code,
        Evidence.reference,
        Evidence.status,
        Evidence.stale_reason,
        Evidence.assurance,
        Evidence.valid_until,
        Evidence.verified_until,
        Evidence.created_at,
        Document.document_type_code,
        Document.subject_kind,
        Document.subject_ref,
        Document.renewal_expected_on,
        Document.document_class,
        Document.brought_by,
        DocumentVersion.issued_on,
        DocumentVersion.expires_on,
        DocumentVersion.period,
        DocumentVersion.attributes,
        Verification.status.label("check_status"),
        Verification.reason_code,
        _verified.c.verified_at,
    )
    .join(
        Evidence,
        (Evidence.organization_id == EvidenceLink.organization_id)
        & (Evidence.id == EvidenceLink.evidence_id),
    )
    .outerjoin(
        Document,
        (Document.organization_id == Evidence.organization_id)
        & (Document.id == Evidence.document_id),
    )
    .outerjoin(
        DocumentVersion,
        (DocumentVersion.organization_id == Evidence.organization_id)
        & (DocumentVersion.document_id == Evidence.document_id)
        & (DocumentVersion.number == Evidence.document_version),
    )
    .outerjoin(
        Verification,
        (Verification.organization_id == Evidence.organization_id)
        & (Verification.id == Evidence.latest_verification_id),
    )
    .outerjoin(
        _verified,
        (_verified.c.organization_id == Evidence.organization_id)
        & (_verified.c.evidence_id == Evidence.id),
    )
    .where(EvidenceLink.removed_at.is_(None))
    .limit(_MOST)
)


@dataclass(frozen=True, slots=True)
class LinkedProof:
    """An evidence that is linked to a requirement, and what its proof says."""

    evidence_id: UUID
    version: int | None
    facts: ProofFacts
    expires_on: date | None
    period_end: date | None
    own_end: date | None  # of a reference, whose issuer says when it ends
    is_reference: bool
    standing: Standing
    assurance: Assurance
    checked_on: date | None
    checked_until: date | None
    doubt: Doubt
    renewal_expected_on: date | None
    document_class: str | None
    brought_by: UUID | None


@dataclass(frozen=True, slots=True)
class Company:
    """Everything that readiness of one company is computed from."""

    today: date
    requirements: tuple[Requirement, ...]
    definitions: Mapping[str, tuple[RequirementDefinition, ...]]  # by code, oldest first
    proofs: Mapping[UUID, tuple[LinkedProof, ...]]  # by requirement
    rules: Rules
    min_assurance: Assurance

    def definition(self, code: str | None, on: date) -> RequirementDefinition | None:
        """The dated row of a code that is in force on a day (CMP-3)."""
        found = None
        for row in self.definitions.get(code or "", ()):
            if row.effective_from <= on and (row.effective_to is None or on <= row.effective_to):
                found = row
        return found

    def catalogue_version(self, on: date) -> int | None:
        """The newest version of the catalogue that counts on a day."""
        rows = [row for code in self.definitions if (row := self.definition(code, on)) is not None]
        return max((row.catalogue_version for row in rows), default=None)


async def read_company(read: Reader) -> Company:
    """Everything there is about the acting company, as of now."""
    requirements = await read.all(
        select(Requirement).where(Requirement.organization_id == read.organization_id),
        limit=_MOST,
    )
    definitions = await read.all(
        select(RequirementDefinition).order_by(
            RequirementDefinition.code, RequirementDefinition.effective_from
        ),
        limit=_MOST,
    )
    by_code: dict[str, list[RequirementDefinition]] = {}
    for row in definitions:
        by_code.setdefault(row.code, []).append(row)
    weights = await configuration.value(read, COMPONENT_WEIGHTS)
    rules = Rules(tuple(weights.model_dump().items()), await configuration.value(read, BLOCKED_CAP))
    least = await configuration.value(read, MIN_ASSURANCE)
    return Company(
        today=local_day(read.now, HOME_ZONE),
        requirements=tuple(requirements),
        definitions={code: tuple(rows) for code, rows in by_code.items()},
        proofs=await _proofs(read),
        rules=rules,
        min_assurance=assurance_of(least),
    )


def assurance_of(code: str | None) -> Assurance:
    """The rank of a kind of verification."""
    return Assurance[code.upper()] if code else Assurance.NONE


async def _proofs(read: Reader) -> dict[UUID, tuple[LinkedProof, ...]]:
    found: dict[UUID, list[LinkedProof]] = {}
    statement = PROOFS.where(EvidenceLink.organization_id == read.organization_id)
    for record in await read.records(statement):
        found.setdefault(record["requirement_id"], []).append(_linked(record))
    return {requirement_id: tuple(proofs) for requirement_id, proofs in found.items()}


def _linked(record: Any) -> LinkedProof:
    is_verified = record["status"] == EvidenceStatus.VERIFIED
    verified_at = record["verified_at"]
    return LinkedProof(
        evidence_id=record["id"],
        version=record["document_version"] or None,
        facts=_facts(record),
        expires_on=record["expires_on"],
        period_end=_period_end(record["attributes"] or {}),
        own_end=record["valid_until"],
        is_reference=record["proof_kind"] == "reference",
        standing=_standing(record["status"], record["stale_reason"]),
        assurance=assurance_of(record["assurance"]) if is_verified else Assurance.DECLARED,
        checked_on=None if verified_at is None else local_day(verified_at, HOME_ZONE),
        checked_until=record["verified_until"] if is_verified else None,
        doubt=_doubt(record["check_status"], record["reason_code"]),
        renewal_expected_on=record["renewal_expected_on"],
        document_class=record["document_class"],
        brought_by=record["brought_by"],
    )


def _facts(record: Any) -> ProofFacts:
    if record["proof_kind"] == "document":
        return ProofFacts(
            code=record["document_type_code"],
            subject_kind=record["subject_kind"],
            subject_ref=record["subject_ref"],
            period=record["period"],
            issued_on=record["issued_on"],
            valid_until=record["valid_until"],
            attributes=record["attributes"] or {},
        )
    reference = record["reference"] or {}
    return ProofFacts(
        code=record["statement_code"] or str(reference.get("type", "")),
        issued_on=local_day(record["created_at"], HOME_ZONE),
        valid_until=record["valid_until"],
    )


def _standing(status: str, stale_reason: str | None) -> Standing:
    """A proof that went stale by time counts by its days; one that was replaced does not count."""
    if status == EvidenceStatus.STALE:
        if stale_reason in _RETURNED_WHEN_STALE:
            return Standing.RETURNED
        is_revoked = stale_reason == "certificate_revoked"
        return Standing.REJECTED if is_revoked else Standing.UNVERIFIED
    return _STANDINGS.get(EvidenceStatus(status), Standing.UNVERIFIED)


def _doubt(check_status: str | None, reason_code: str | None) -> Doubt:
    if check_status != VerificationStatus.INCONCLUSIVE:
        return Doubt.NONE
    return Doubt.DOUBT if reason_code in _DOUBTED else Doubt.NO_ANSWER


def _period_end(attributes: Mapping[str, Any]) -> date | None:
    stated = attributes.get("periodEnd")
    try:
        return date.fromisoformat(stated) if isinstance(stated, str) else None
    except ValueError:
        return None
