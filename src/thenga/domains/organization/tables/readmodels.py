"""What the company wants, and what is derived from its records: the graph and health."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col


class ProcurementPreferences(
    TenantRow, table="organization.procurement_preferences", kind=Kind.PRIVATE
):
    """The document in force; the row's identifier is its organization's, so there is one."""

    document: Col[dict[str, Any]] = col(pg.JSONB)


class PreferencesVersion(TenantRow, table="organization.preferences_version", kind=Kind.PRIVATE):
    """The document as it stood after one change; added, never changed."""

    preferences_version: Col[int] = col(sa.BigInteger)
    document: Col[dict[str, Any]] = col(pg.JSONB)
    changes: Col[list[dict[str, Any]]] = col(pg.JSONB)
    actor_kind: Col[str] = col(sa.Text)
    actor_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class GraphEdge(TenantRow, table="organization.graph_edge", kind=Kind.PRIVATE, told=False):
    """That one thing hangs on another; written with the change of the record that says so."""

    owner_key: Col[str] = col(sa.Text)
    edge_type: Col[str] = col(sa.Text)
    from_key: Col[str] = col(sa.Text)
    from_type: Col[str] = col(sa.Text)
    to_key: Col[str] = col(sa.Text)
    to_type: Col[str] = col(sa.Text)
    kind: Col[str] = col(sa.Text)
    since: Col[datetime] = col(Instant)
    until: Col[datetime | None] = col(Instant, nullable=True, default=None)


class ExternalRef(TenantRow, table="organization.external_ref", kind=Kind.PRIVATE, told=False):
    """Something of another domain that a record here refers to: a reference, never a copy."""

    node_key: Col[str] = col(sa.Text)
    domain: Col[str] = col(sa.Text)
    ref_type: Col[str] = col(sa.Text)
    ref_id: Col[str] = col(sa.Text)


class Health(TenantRow, table="organization.health", kind=Kind.PRIVATE):
    """When a company's health is looked at next, and what was last told of it.

    The row's identifier is its organization's. A change marks it by moving `next_check_at`, which
    counts no version: marks are many and mean nothing once health was looked at.
    """

    told_score: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class HealthSnapshot(TenantRow, table="organization.health_snapshot", kind=Kind.PRIVATE):
    """Health as it was on one day; the last look of the day counts."""

    day: Col[date] = col(sa.Date)
    score: Col[Decimal] = col(sa.Numeric)
    score_exact: Col[Decimal] = col(sa.Numeric)
    band: Col[str] = col(sa.Text)
    formula_version: Col[int] = col(sa.Integer)
    partial: Col[bool] = col(sa.Boolean)
