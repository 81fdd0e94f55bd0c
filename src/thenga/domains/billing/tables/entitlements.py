"""Entitlement sets and grants."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.billing.tables.subscriptions import Access
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class GrantStatus(StrEnum):
    """Status of a grant."""

    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"


class EntitlementSet(
    TenantRow,
    table="billing.entitlement_set",
    kind=Kind.PRIVATE,
    key=("organization_id",),
    told=False,
):
    """The entitlements of an organization, valid until `valid_until` (BIL-45).

    `items` has each feature's entitlement, sources and last published state; `usage_month` is the
    current usage month.
    """

    as_of: Col[datetime] = col(Instant)
    valid_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    items: Col[dict[str, Any]] = col(pg.JSONB)
    access: Col[Access] = status(Access)
    because: Col[str | None] = col(sa.Text, nullable=True, default=None)
    trial_ended: Col[bool] = col(sa.Boolean, default=False)
    spend_capped: Col[bool] = col(sa.Boolean, default=False)
    subscription_id: Col[UUID | None] = col(
        pg.UUID, nullable=True, default=None
    )  # the base subscription
    anchor: Col[date] = col(sa.Date)
    usage_month: Col[date] = col(sa.Date)
    resets_at: Col[datetime] = col(Instant)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Grant(TenantRow, table="billing.goodwill_grant", kind=Kind.PRIVATE):
    """An entitlement given by an operator. It only adds, and it expires."""

    entitlement: Col[str] = col(sa.Text)
    value: Col[bool | int] = col(pg.JSONB)
    expires_at: Col[datetime] = col(Instant)
    reason: Col[str] = col(sa.Text)
    status: Col[GrantStatus] = status(GrantStatus, default=GrantStatus.ACTIVE)
    issued_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    revoked_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
