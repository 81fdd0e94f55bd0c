"""Integrations with providers, and their sealed secrets."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, Row, Sealed, col, status


class IntegrationStatus(StrEnum):
    """Status of an integration. Its domain uses only an active one."""

    PENDING = "pending"
    ACTIVE = "active"
    PAUSED = "paused"


class IntegrationConfiguration(
    Row, table="administration.integration_configuration", kind=Kind.PLATFORM
):
    """The settings of one provider in one environment."""

    kind: Col[str] = col(sa.Text)
    name: Col[str] = col(sa.Text)
    environment: Col[str] = col(sa.Text)  # `live` or `sandbox`
    target_domain: Col[str] = col(sa.Text)
    settings: Col[dict[str, Any]] = col(Json)
    settings_version: Col[int] = col(sa.Integer, default=1)
    status: Col[IntegrationStatus] = status(IntegrationStatus, default=IntegrationStatus.PENDING)
    created_by: Col[UUID] = col(pg.UUID)


class IntegrationSecret(
    Row, table="administration.integration_secret", kind=Kind.PLATFORM, told=False
):
    """One version of a secret. No view of it exists; `bound_to` is its AAD (ADM-37)."""

    integration_id: Col[UUID] = col(pg.UUID)
    name: Col[str] = col(sa.Text)
    secret_version: Col[int] = col(sa.Integer)
    bound_to: Col[bytes] = col(sa.LargeBinary)
    sealed: Col[bytes] = col(sa.LargeBinary, sealed=Sealed("integration", ("bound_to",)))
    fingerprint: Col[str] = col(sa.Text)
    set_at: Col[datetime] = col(Instant)
    # While the next version is being introduced, this one stays valid until then.
    valid_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
