"""What is sold and by whom: plans and their versions, features, meters and sellers.

Operators write plan versions; everybody reads the offered ones, which only the system login
copies there (docs/decisions/0020).
"""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, col, status


class Interval(StrEnum):
    """How often a subscription is billed."""

    MONTH = "month"
    YEAR = "year"


class PlanKind(StrEnum):
    """Whether a plan stands alone (`base`) or extends one (`addon`)."""

    BASE = "base"
    ADDON = "addon"


class PlanStatus(StrEnum):
    """Status of a plan version. `grandfathered` is no longer sold but still in use."""

    DRAFT = "draft"
    ACTIVE = "active"
    GRANDFATHERED = "grandfathered"
    RETIRED = "retired"


class FeatureType(StrEnum):
    """Type of entitlement."""

    BOOLEAN = "boolean"
    LIMIT = "limit"
    METERED = "metered"


class MeterKind(StrEnum):
    """`counter` adds up over a month, `gauge` counts what is open now, `told` is a number
    another domain reports."""

    COUNTER = "counter"
    GAUGE = "gauge"
    TOLD = "told"


class PlanVersion(Row, table="billing.plan_version", kind=Kind.PLATFORM):
    """A version of a plan as operators see it, from draft to retired."""

    plan_code: Col[str] = col(sa.Text)
    plan_version: Col[int] = col(sa.Integer)
    name: Col[str] = col(sa.Text)
    description: Col[str] = col(sa.Text)
    kind: Col[PlanKind] = status(PlanKind)
    rank: Col[int] = col(sa.Integer)
    public: Col[bool] = col(sa.Boolean)
    trial_eligible: Col[bool] = col(sa.Boolean)
    prices: Col[list[dict[str, Any]]] = col(pg.JSONB)
    entitlements: Col[list[dict[str, Any]]] = col(pg.JSONB)
    effective_from: Col[date] = col(sa.Date)
    effective_to: Col[date | None] = col(sa.Date, nullable=True, default=None)
    status: Col[PlanStatus] = status(PlanStatus, default=PlanStatus.DRAFT)
    authors: Col[list[UUID]] = col(pg.ARRAY(pg.UUID), default=[])  # everybody who edited it
    published_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    published_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    retired_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    live_subscriptions: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    migrates_to: Col[int | None] = col(sa.Integer, nullable=True, default=None)  # a later version
    migrates_after: Col[date | None] = col(sa.Date, nullable=True, default=None)


class OfferedPlan(Row, table="billing.offered_plan", kind=Kind.CATALOGUE):
    """A published version that everybody can read. Its terms never change (BIL-1)."""

    plan_code: Col[str] = col(sa.Text)
    plan_version: Col[int] = col(sa.Integer)
    name: Col[str] = col(sa.Text)
    description: Col[str] = col(sa.Text)
    kind: Col[PlanKind] = status(PlanKind)
    rank: Col[int] = col(sa.Integer)
    public: Col[bool] = col(sa.Boolean)
    trial_eligible: Col[bool] = col(sa.Boolean)
    prices: Col[list[dict[str, Any]]] = col(pg.JSONB)
    entitlements: Col[list[dict[str, Any]]] = col(pg.JSONB)
    effective_from: Col[date] = col(sa.Date)
    effective_to: Col[date | None] = col(sa.Date, nullable=True, default=None)
    retired_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    migrates_to: Col[int | None] = col(sa.Integer, nullable=True, default=None)  # a later version
    migrates_after: Col[date | None] = col(sa.Date, nullable=True, default=None)


class Feature(Row, table="billing.feature", kind=Kind.CATALOGUE):
    """An entitlement key that plans can include and permissions can require."""

    key: Col[str] = col(sa.Text)
    type: Col[FeatureType] = status(FeatureType)
    title: Col[str] = col(sa.Text)


class Meter(Row, table="billing.meter", kind=Kind.CATALOGUE):
    """How usage of a feature is counted. Its key is the feature's key (BIL-19)."""

    key: Col[str] = col(sa.Text)
    kind: Col[MeterKind] = status(MeterKind)
    unit: Col[str] = col(sa.Text)


class Seller(Row, table="billing.seller", kind=Kind.CATALOGUE):
    """The seller as printed on documents from a day on."""

    seller_code: Col[str] = col(sa.Text)
    effective_from: Col[date] = col(sa.Date)
    legal_name: Col[str] = col(sa.Text)
    trading_name: Col[str] = col(sa.Text)
    registration_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    vat_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    address: Col[dict[str, str]] = col(pg.JSONB)
    bank: Col[dict[str, str]] = col(pg.JSONB)
