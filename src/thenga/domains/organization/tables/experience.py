"""What the company has done, and who says so."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.organization.tables.assets import Reference
from thenga.domains.organization.tables.offers import Classification
from thenga.domains.organization.tables.records import Record
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, col, status


class PastProjectStatus(StrEnum):
    """Status of a past project."""

    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


class PastProjectVerification(StrEnum):
    """Verification status of a past project."""

    UNVERIFIED = "unverified"
    PENDING = "pending"
    VERIFIED = "verified"
    FAILED = "failed"


class ClientReferenceStatus(StrEnum):
    """Status of a client reference."""

    DRAFT = "draft"
    REQUESTED = "requested"
    CONFIRMED = "confirmed"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    UNREACHABLE = "unreachable"


class PastProject(Record, table="organization.past_project", kind=Kind.PRIVATE):
    """Work that was done for a client; `verified_by` lists what proves it (ORG-23)."""

    unseen = frozenset({"verification_status", "verified_by"})

    title: Col[str] = col(sa.Text)
    client_name: Col[str] = col(sa.Text)
    client_type: Col[str | None] = col(sa.Text, nullable=True, default=None)
    client_domain: Col[str | None] = col(sa.Text, nullable=True, default=None)
    contract_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    value_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    value_currency: Col[str | None] = col(sa.Text, nullable=True, default=None)
    started_on: Col[date] = col(sa.Date)
    completed_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    role: Col[str | None] = col(sa.Text, nullable=True, default=None)
    share_percent: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    province: Col[str | None] = col(sa.Text, nullable=True, default=None)
    municipality_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    classifications: Col[list[Classification]] = col(pg.JSONB, default=[])
    evidence_refs: Col[list[Reference]] = col(pg.JSONB, default=[])
    contract_ref: Col[Reference | None] = col(pg.JSONB, nullable=True, default=None)
    verification_status: Col[PastProjectVerification] = status(
        PastProjectVerification, default=PastProjectVerification.UNVERIFIED
    )
    status: Col[PastProjectStatus] = status(PastProjectStatus, default=PastProjectStatus.DRAFT)
    verified_by: Col[list[dict[str, Any]]] = col(pg.JSONB, default=[])


class ClientReference(Record, table="organization.client_reference", kind=Kind.PRIVATE):
    """A client who can confirm a project; what it says of a person is sealed (ORG-16).

    `contact_index` finds the same address again inside one organization, and nowhere else.
    """

    unseen = frozenset({"contact_version", "contact_index", "next_check_at", "erased_at"})

    past_project_id: Col[UUID] = col(pg.UUID)
    contact: Col[bytes] = col(sa.LargeBinary, secret=True)
    contact_version: Col[int] = col(sa.BigInteger, default=1)
    contact_index: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None, secret=True)
    questions: Col[list[str]] = col(pg.JSONB, default=[])
    message: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    status: Col[ClientReferenceStatus] = status(
        ClientReferenceStatus, default=ClientReferenceStatus.DRAFT
    )
    statement_hash: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None)
    requested_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    expires_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    rounds: Col[int] = col(sa.Integer, default=0)
    answers: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    corrections: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    strength: Col[str | None] = col(sa.Text, nullable=True, default=None)
    strength_reasons: Col[list[str]] = col(pg.JSONB, default=[])
    receipt: Col[str | None] = col(sa.Text, nullable=True, default=None)
    erased_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
