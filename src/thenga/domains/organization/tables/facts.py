"""The organization and its facts; each origin of a value has a table of its own (ORG-1)."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, PersonalRow, Row, TenantRow, col, status


class OrganizationStatus(StrEnum):
    """Status of an organization."""

    PENDING_REVIEW = "pending_review"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    OFFBOARDING = "offboarding"
    MERGED = "merged"
    CLOSED = "closed"


class Origin(StrEnum):
    """Source of a current value. Suggestions by machines never count."""

    CUSTOMER_SUPPLIED = "customer_supplied"
    IMPORTED = "imported"
    VERIFIED = "verified"


class FactVerification(StrEnum):
    """Whether the current value is verified."""

    UNVERIFIED = "unverified"
    PENDING = "pending"
    VERIFIED = "verified"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    EXPIRED = "expired"


class FactConflict(StrEnum):
    """Whether current statements or verifications differ, and whether the conflict is resolved."""

    NONE = "none"
    CONFLICTED = "conflicted"
    RESOLVED = "resolved"


class Organization(TenantRow, table="organization.organization", kind=Kind.PRIVATE):
    """The company; `organization_id` is the row's own identifier."""

    organization_type: Col[str] = col(sa.Text)
    mode: Col[str] = col(sa.Text)
    time_zone: Col[str] = col(sa.Text)
    locale: Col[str] = col(sa.Text)
    status: Col[OrganizationStatus] = status(OrganizationStatus)
    display_name: Col[str] = col(sa.Text)
    created_by: Col[UUID] = col(pg.UUID)
    clock_ahead: Col[timedelta] = col(sa.Interval, default=timedelta(0))
    clock_moves: Col[int] = col(sa.BigInteger, default=0)
    status_reason: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    platform_capabilities: Col[dict[str, Any]] = col(pg.JSONB, default={})
    merged_into: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    offboarding: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)


class OrganizationCard(TenantRow, table="organization.organization_card", kind=Kind.PUBLISHED):
    """The only thing about a company that a display for another one may get."""

    display_name: Col[str] = col(sa.Text)
    legal_form: Col[str | None] = col(sa.Text, nullable=True, default=None)
    registration_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    provinces: Col[list[str]] = col(pg.JSONB, default=[])
    status: Col[str] = col(sa.Text)
    verified_facts: Col[list[dict[str, Any]]] = col(pg.JSONB, default=[])
    as_of_version: Col[int] = col(sa.BigInteger)


class Founding(PersonalRow, table="organization.founding", kind=Kind.PERSONAL):
    """That a person founded a company, so that one person founds a bounded number (ORG-2)."""

    founded_id: Col[UUID] = col(pg.UUID)
    registration_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class FactKey(Row, table="organization.fact_key", kind=Kind.CATALOGUE):
    """One line of the fact catalogue; seeded at deployment from `content/facts.json`."""

    key: Col[str] = col(sa.Text)
    fact_group: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    value_type: Col[str] = col(sa.Text)
    sensitivity: Col[str] = col(sa.Text)
    fresh_days: Col[int] = col(sa.Integer)
    weight: Col[int] = col(sa.Integer)
    legal_forms: Col[list[str]] = col(pg.ARRAY(sa.Text))


class CustomerStatement(TenantRow, table="organization.customer_statement", kind=Kind.PRIVATE):
    """What the company itself said about a fact; only its withdrawal is ever written later.

    A secret value stands in `sealed` and nowhere else. A change that is held back has
    `next_check_at` until it is activated (ORG-37).
    """

    fact_key: Col[str] = col(sa.Text)
    # Values are told by reading the fact; an audit row says that one was stated, not what it is.
    value: Col[Any] = col(pg.JSONB, nullable=True, default=None, secret=True)
    sealed: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None, secret=True)
    canonical_hash: Col[bytes] = col(sa.LargeBinary, secret=True)
    warnings: Col[list[str]] = col(pg.ARRAY(sa.Text), default=[])
    basis: Col[str | None] = col(sa.Text, nullable=True, default=None)
    source: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    stated_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    effective_from: Col[datetime] = col(Instant)
    withdrawn_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class ImportedStatement(TenantRow, table="organization.imported_statement", kind=Kind.PRIVATE):
    """What a register, a file or a merged company says about a fact; one live of each register."""

    fact_key: Col[str] = col(sa.Text)
    register: Col[str] = col(sa.Text)
    imported_value: Col[Any] = col(pg.JSONB, nullable=True, default=None, secret=True)
    imported_sealed: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, secret=True
    )
    canonical_hash: Col[bytes] = col(sa.LargeBinary, secret=True)
    warnings: Col[list[str]] = col(pg.ARRAY(sa.Text), default=[])
    source: Col[dict[str, Any]] = col(pg.JSONB)
    stated_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    effective_from: Col[datetime] = col(Instant)
    withdrawn_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Fact(TenantRow, table="organization.fact", kind=Kind.PRIVATE):
    """Which statement or check counts for a fact: a pointer, never a value (ORG-1)."""

    fact_key: Col[str] = col(sa.Text)
    customer_statement_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    imported_statement_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    verification_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    verification_status: Col[FactVerification] = status(
        FactVerification, default=FactVerification.UNVERIFIED
    )
    verified_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    conflict_status: Col[FactConflict] = status(FactConflict, default=FactConflict.NONE)
    resolved_to: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    resolved_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    resolved_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    resolution_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)


class FactVersion(TenantRow, table="organization.fact_version", kind=Kind.PRIVATE):
    """What a fact pointed at in one of its versions; never changed, so it can be cited (ORG-7)."""

    fact_id: Col[UUID] = col(pg.UUID)
    fact_key: Col[str] = col(sa.Text)
    number: Col[int] = col(sa.BigInteger)
    customer_statement_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    imported_statement_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    verification_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    verification_status: Col[str] = col(sa.Text)
    conflict_status: Col[str] = col(sa.Text)
    change: Col[str] = col(sa.Text)
    changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class FactFreshness(TenantRow, table="organization.fact_freshness", kind=Kind.PRIVATE):
    """When somebody last said that a fact is still right; apart, because it is no new version."""

    fact_key: Col[str] = col(sa.Text)
    confirmed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    confirmed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    stale_after: Col[datetime] = col(Instant)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
