"""Evidence: a proof, the requirements it is linked to, and its verifications."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, TenantRow, col, status


class EvidenceStatus(StrEnum):
    """Status of evidence."""

    SUBMITTED = "submitted"
    IN_REVIEW = "in_review"
    VERIFIED = "verified"
    NEEDS_REVISION = "needs_revision"
    REJECTED = "rejected"
    STALE = "stale"


class Assurance(StrEnum):
    """How strongly a proof was verified, weakest first (CMP-17)."""

    DECLARED = "declared"
    INTERNAL = "internal"
    INDEPENDENT = "independent"


class Evidence(TenantRow, table="compliance.evidence", kind=Kind.PRIVATE):
    """One proof: a version of a document, a reference to another domain, or a declaration.

    `proof_key` names the proof, and `document_version` is 0 where it is no document.
    `valid_until` is the last day of the proof, `verified_until` that of its verification.
    """

    proof_kind: Col[str] = col(sa.Text)  # document, reference, declaration
    proof_key: Col[str] = col(sa.Text)
    document_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    document_version: Col[int] = col(sa.Integer, default=0)
    reference: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    statement_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    answers: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    period: Col[str] = col(sa.Text, default="")
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    sha256: Col[str | None] = col(sa.Text, nullable=True, default=None)
    assurance: Col[Assurance] = status(Assurance, default=Assurance.DECLARED)
    status: Col[EvidenceStatus] = status(EvidenceStatus, default=EvidenceStatus.SUBMITTED)
    stale_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    latest_verification_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    successor_of: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    linked_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    valid_until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    verified_until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class EvidenceLink(TenantRow, table="compliance.evidence_link", kind=Kind.PRIVATE):
    """A proof serves a requirement. Whether it fits is computed for the evaluated day (CMP-15)."""

    evidence_id: Col[UUID] = col(pg.UUID)
    requirement_id: Col[UUID] = col(pg.UUID)
    linked_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    removed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class KnownReference(TenantRow, table="compliance.known_reference", kind=Kind.PRIVATE):
    """A certificate of Learning that evidence can name, as its events told it."""

    domain: Col[str] = col(sa.Text)
    type: Col[str] = col(sa.Text)
    reference_id: Col[UUID] = col(pg.UUID)
    valid_until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    revoked_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    sequence: Col[int] = col(sa.BigInteger, default=0)


class VerificationStatus(StrEnum):
    """Status of a verification. A decided verification cannot change."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    VERIFIED = "verified"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    NEEDS_REVISION = "needs_revision"
    CANCELLED = "cancelled"


class Verification(TenantRow, table="compliance.verification", kind=Kind.PRIVATE):
    """One look at one evidence by somebody who did not bring it (CMP-17)."""

    evidence_id: Col[UUID] = col(pg.UUID)
    method: Col[str] = col(sa.Text)  # manual
    requested_from: Col[str] = col(sa.Text)  # internal, platform
    requested_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    status: Col[VerificationStatus] = status(VerificationStatus, default=VerificationStatus.PENDING)
    evidence_sha256: Col[str | None] = col(sa.Text, nullable=True, default=None)
    evidence_version: Col[int] = col(sa.Integer)  # the version of the proof that was looked at
    assignee_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    due_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    reason_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    found: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None, secret=True)
    source: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    assurance: Col[str | None] = col(sa.Text, nullable=True, default=None)
    valid_until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    checked_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    checked_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class VerificationTicket(Row, table="compliance.verification_ticket", kind=Kind.PLATFORM):
    """A verification that the platform was asked for; identifiers only, no content."""

    verification_id: Col[UUID] = col(pg.UUID)
    tenant_id: Col[UUID] = col(pg.UUID)
    evidence_id: Col[UUID] = col(pg.UUID)
    document_type_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    due_at: Col[datetime] = col(Instant)
    assignee_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    closed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
