"""What the company offers and what it claims to be able to do, with the evidence it knows of."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.organization.tables.assets import Reference
from thenga.domains.organization.tables.records import Record
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, TenantRow, col, status

Classification = dict[str, str]  # `scheme` and `code`
NOWHERE: dict[str, Any] = {"national": False, "provinces": [], "municipalities": []}


class ServiceStatus(StrEnum):
    """Status of a service."""

    DRAFT = "draft"
    ACTIVE = "active"
    DISCONTINUED = "discontinued"


class ProductStatus(StrEnum):
    """Status of a product."""

    DRAFT = "draft"
    ACTIVE = "active"
    DISCONTINUED = "discontinued"


class CapabilityStatus(StrEnum):
    """Status of a capability."""

    ACTIVE = "active"
    WITHDRAWN = "withdrawn"


class CapabilityVerification(StrEnum):
    """Verification status of a capability."""

    CLAIMED = "claimed"
    EVIDENCE_ATTACHED = "evidence_attached"
    UNDER_REVIEW = "under_review"
    VERIFIED = "verified"
    REJECTED = "rejected"
    LAPSED = "lapsed"


class EvidenceState(StrEnum):
    """What is known about a referenced document or record."""

    LIVE = "live"
    STALE = "stale"
    MOVED = "moved"
    ERASED = "erased"
    FORBIDDEN = "forbidden"
    UNKNOWN = "unknown"


class Offering(Record):
    """What services and products have in common."""

    name: Col[str] = col(sa.Text)
    description: Col[str | None] = col(sa.Text, nullable=True, default=None)
    classifications: Col[list[Classification]] = col(pg.JSONB, default=[])
    areas: Col[dict[str, Any]] = col(pg.JSONB, default=NOWHERE)
    unit: Col[str | None] = col(sa.Text, nullable=True, default=None)
    lead_time_days: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    price_from_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    price_from_currency: Col[str | None] = col(sa.Text, nullable=True, default=None)
    evidence_refs: Col[list[Reference]] = col(pg.JSONB, default=[])


class Service(Offering, table="organization.service", kind=Kind.PRIVATE):
    """Work that the company does for others."""

    status: Col[ServiceStatus] = status(ServiceStatus, default=ServiceStatus.DRAFT)


class Product(Offering, table="organization.product", kind=Kind.PRIVATE):
    """Goods that the company delivers."""

    brand: Col[str | None] = col(sa.Text, nullable=True, default=None)
    model: Col[str | None] = col(sa.Text, nullable=True, default=None)
    gtin: Col[str | None] = col(sa.Text, nullable=True, default=None)
    country_of_origin: Col[str | None] = col(sa.Text, nullable=True, default=None)
    local_content_percent: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    status: Col[ProductStatus] = status(ProductStatus, default=ProductStatus.DRAFT)


class Capability(Record, table="organization.capability", kind=Kind.PRIVATE):
    """What the company says it can do; whether it is proven is another axis than whether it holds.

    `cidb_class` repeats a part of `cidb`, so that one can filter by it.
    """

    # What was found out about it stands in `verification`; here is only where that led (ORG-1).
    unseen = frozenset({"cidb_class", "next_check_at", "verification_status", "verified_until"})

    title: Col[str] = col(sa.Text)
    description: Col[str | None] = col(sa.Text, nullable=True, default=None)
    classifications: Col[list[Classification]] = col(pg.JSONB, default=[])
    cidb: Col[dict[str, str | None] | None] = col(pg.JSONB, nullable=True, default=None)
    cidb_class: Col[str | None] = col(sa.Text, nullable=True, default=None)
    capacity: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    areas: Col[dict[str, Any]] = col(pg.JSONB, default=NOWHERE)
    evidence_refs: Col[list[Reference]] = col(pg.JSONB, default=[])
    verification_status: Col[CapabilityVerification] = status(
        CapabilityVerification, default=CapabilityVerification.CLAIMED
    )
    status: Col[CapabilityStatus] = status(CapabilityStatus, default=CapabilityStatus.ACTIVE)
    verified_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class KnownEvidence(TenantRow, table="organization.known_evidence", kind=Kind.PRIVATE):
    """What other domains told of a document, an evidence or a certificate (ORG-21).

    `proof_id` is the document behind an evidence: what happens to it happens to the evidence.
    """

    domain: Col[str] = col(sa.Text)
    evidence_type: Col[str] = col(sa.Text)
    evidence_id: Col[UUID] = col(pg.UUID)
    proof_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    source_version: Col[int] = col(sa.BigInteger)
    state: Col[EvidenceState] = status(EvidenceState)
    verified: Col[bool] = col(sa.Boolean)
    valid_until: Col[date | None] = col(sa.Date, nullable=True, default=None)


class ClassificationCode(Row, table="organization.classification_code", kind=Kind.CATALOGUE):
    """One code of a scheme by which work and goods are sorted."""

    scheme: Col[str] = col(sa.Text)
    code: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    parent: Col[str | None] = col(sa.Text, nullable=True, default=None)
