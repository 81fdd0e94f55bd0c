"""What Organization remembers: schema `organization`."""

from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class OrganizationStatus(StrEnum):
    PENDING_REVIEW = "pending_review"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    CLOSED = "closed"


class EquipmentStatus(StrEnum):
    AVAILABLE = "available"
    IN_USE = "in_use"
    MAINTENANCE = "maintenance"
    RETIRED = "retired"


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


class CustomerStatement(TenantRow, table="organization.customer_statement", kind=Kind.PRIVATE):
    """What the company itself said about a fact; only its withdrawal is ever written later."""

    fact_key: Col[str] = col(sa.Text)
    value: Col[Any] = col(pg.JSONB)
    stated_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    withdrawn_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Fact(TenantRow, table="organization.fact", kind=Kind.PRIVATE):
    """Which statement counts for a fact: a pointer, never a value (ORG-1)."""

    fact_key: Col[str] = col(sa.Text)
    statement_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class Equipment(TenantRow, table="organization.equipment", kind=Kind.PRIVATE):
    """A machine or tool that the company can put to work."""

    name: Col[str] = col(sa.Text)
    category: Col[str | None] = col(sa.Text, nullable=True, default=None)
    make: Col[str | None] = col(sa.Text, nullable=True, default=None)
    model: Col[str | None] = col(sa.Text, nullable=True, default=None)
    year: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    ownership: Col[str | None] = col(sa.Text, nullable=True, default=None)
    quantity: Col[int] = col(sa.Integer)
    serial_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    expiries: Col[list[dict[str, str]]] = col(pg.JSONB)
    status: Col[EquipmentStatus] = status(EquipmentStatus, default=EquipmentStatus.AVAILABLE)
    next_expiry: Col[date | None] = col(sa.Date, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    archived_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
