"""What Compliance tells of evidence and its verification, and what others may ask of it."""

from abc import abstractmethod
from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.domains.compliance.public.documents import CitedState
from thenga.kernel.declare.event import Event
from thenga.kernel.declare.port import Port, idempotent

_VALUE = ConfigDict(frozen=True)


class Proof(BaseModel):
    """What an evidence rests on: a document, a certificate."""

    model_config = ConfigDict(frozen=True)

    domain: str
    type: str
    id: UUID


class EvidenceLinked(Event, type="compliance.EvidenceLinked.v1", subject="evidence_id"):
    """A proof was linked to requirements; nobody has looked at it yet."""

    organization_id: UUID
    evidence_id: UUID
    proof: Proof
    proof_version: int
    status: str
    valid_until: date | None = None
    requirement_ids: list[UUID] = []
    requirement_codes: list[str] = []
    successor_of: UUID | None = None


class EvidenceVerified(Event, type="compliance.EvidenceVerified.v1", subject="evidence_id"):
    """Somebody who may has looked at the proof and found it right."""

    organization_id: UUID
    evidence_id: UUID
    proof: Proof
    proof_version: int
    status: str
    assurance: str
    valid_until: date | None = None
    requirement_ids: list[UUID] = []
    requirement_codes: list[str] = []
    verification_id: UUID | None = None
    method: str | None = None


class EvidenceChanged(Event, type="compliance.EvidenceChanged.v1", subject="evidence_id"):
    """The status or the requirements of an evidence changed."""

    organization_id: UUID
    evidence_id: UUID
    proof: Proof
    proof_version: int
    status: str
    stale_reason: str | None = None
    assurance: str
    valid_until: date | None = None
    requirement_ids: list[UUID]
    requirement_codes: list[str]


class VerificationRequested(
    Event, type="compliance.VerificationRequested.v1", subject="verification_id"
):
    """Somebody is asked to verify an evidence: another member, or the platform."""

    organization_id: UUID
    verification_id: UUID
    evidence_id: UUID
    method: str
    requested_from: str
    due_at: datetime | None = None


class VerificationFailed(Event, type="compliance.VerificationFailed.v1", subject="evidence_id"):
    """A proof was looked at and found wrong."""

    organization_id: UUID
    evidence_id: UUID
    verification_id: UUID
    proof_version: int
    reason_code: str
    method: str | None = None
    requirement_codes: list[str] = []


class VerificationInconclusive(
    Event, type="compliance.VerificationInconclusive.v1", subject="evidence_id"
):
    """A proof was looked at and nothing could be said; its status did not change."""

    organization_id: UUID
    evidence_id: UUID
    verification_id: UUID
    proof_version: int
    method: str
    reason_code: str
    requirement_codes: list[str]
    next_check_at: datetime | None = None


class EvidenceRef(BaseModel):
    """A citation of an evidence, and of the version of its proof that was relied on."""

    model_config = _VALUE

    evidence_id: UUID
    proof_version: int | None = None


class ResolvedEvidence(BaseModel):
    """What became of a citation. What one may not know of is `forbidden`.

    `document_id` and `document_version` name the paper, to be opened by `Documents.open`.
    """

    model_config = _VALUE

    ref: EvidenceRef
    state: CitedState
    valid_until: date | None = None
    sha256: str | None = None
    document_id: UUID | None = None
    document_version: int | None = None


class Evidence(Port, name="compliance.evidence", timeout=0.5):
    """Whether what was relied on still holds; at most 200 at once. Silence means unknown."""

    @abstractmethod
    @idempotent
    async def resolve(
        self, *, organization_id: UUID, refs: list[EvidenceRef]
    ) -> list[ResolvedEvidence]: ...


class Attestation(BaseModel):
    """What a company can state of one requirement; `number` is null where it is not proven.

    For a document that the person may not read, only the state is given.
    """

    model_config = _VALUE

    code: str
    state: str
    level: str | None = None
    number: str | None = None
    valid_until: date | None = None
    evidence_ref: EvidenceRef | None = None


class Attestations(Port, name="compliance.attestations", timeout=0.5):
    """What a form may say of the proofs of a company. Silence: the field stays blank.

    Sealed numbers, such as the PIN of a tax letter, are told for `bid_form` only, and each time is
    written down. What stands in a personal or confidential document is given to a person who may
    read it; without `on_behalf_of` to nobody (CMP-48).
    """

    @abstractmethod
    @idempotent
    async def describe(
        self,
        *,
        organization_id: UUID,
        codes: list[str],
        purpose: Literal["bid_form", "funding_application"],
        on_behalf_of: UUID | None = None,
    ) -> list[Attestation]: ...


EVENTS = (
    EvidenceLinked,
    EvidenceVerified,
    EvidenceChanged,
    VerificationRequested,
    VerificationFailed,
    VerificationInconclusive,
)
