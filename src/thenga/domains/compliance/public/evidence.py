"""What Compliance tells of documents and evidence."""

from datetime import date
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from thenga.kernel.declare.event import Event


class Proof(BaseModel):
    """What an evidence rests on: a document, a certificate."""

    model_config = ConfigDict(frozen=True)

    domain: str
    type: str
    id: UUID


class DocumentUploaded(Event, type="compliance.DocumentUploaded.v1", subject="document_id"):
    """A version of a document is there and clean."""

    organization_id: UUID
    document_id: UUID
    document_version: int
    document_type_code: str
    valid_until: date | None = None


class DocumentExpired(Event, type="compliance.DocumentExpired.v1", subject="document_id"):
    """The last valid day of a document has passed."""

    organization_id: UUID
    document_id: UUID
    document_version: int
    document_type_code: str
    valid_until: date


class EvidenceLinked(Event, type="compliance.EvidenceLinked.v1", subject="evidence_id"):
    """A proof was linked to requirements; nobody has looked at it yet."""

    organization_id: UUID
    evidence_id: UUID
    proof: Proof
    proof_version: int
    status: str
    valid_until: date | None = None


class EvidenceVerified(Event, type="compliance.EvidenceVerified.v1", subject="evidence_id"):
    """Somebody who may has looked at the proof and found it right."""

    organization_id: UUID
    evidence_id: UUID
    proof: Proof
    proof_version: int
    status: str
    assurance: str
    valid_until: date | None = None


class VerificationFailed(Event, type="compliance.VerificationFailed.v1", subject="evidence_id"):
    """A proof was looked at and found wrong."""

    organization_id: UUID
    evidence_id: UUID
    verification_id: UUID
    proof_version: int
    reason_code: str


EVENTS = (DocumentUploaded, DocumentExpired, EvidenceLinked, EvidenceVerified, VerificationFailed)
