"""Settings: what the manifests declare, and the versions that staff make."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, Row, col, status


class DeclarationStatus(StrEnum):
    """Whether the code still declares a key."""

    ACTIVE = "active"
    RETIRED = "retired"


class ConfigurationStatus(StrEnum):
    """Status of a version of a setting."""

    PENDING_APPROVAL = "pending_approval"
    APPROVED = "approved"
    REJECTED = "rejected"


class Declaration(Row, table="administration.declaration", kind=Kind.CATALOGUE):
    """A setting or policy that a manifest declares, written at each deployment (ADM-7)."""

    kind: Col[str] = col(sa.Text)  # `configuration` or `policy`
    key: Col[str] = col(sa.Text)
    domains: Col[list[str]] = col(pg.ARRAY(sa.Text))  # those that declare it; several for `law.`
    schema: Col[dict[str, Any]] = col(Json)
    default_value: Col[Any] = col(Json, nullable=True)
    schema_hash: Col[str] = col(sa.Text)
    approval: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    retroactive: Col[bool] = col(sa.Boolean)
    status: Col[DeclarationStatus] = status(DeclarationStatus, default=DeclarationStatus.ACTIVE)


class ConfigurationVersion(Row, table="administration.configuration_version", kind=Kind.PLATFORM):
    """A version of a setting. Nothing of it is ever edited; a correction is a new version."""

    key: Col[str] = col(sa.Text)
    number: Col[int] = col(sa.Integer)
    value: Col[Any] = col(Json, nullable=True)
    base_version: Col[int] = col(sa.Integer)
    effective_from: Col[datetime] = col(Instant)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    schema_hash: Col[str] = col(sa.Text)
    status: Col[ConfigurationStatus] = status(ConfigurationStatus)
    created_by: Col[UUID] = col(pg.UUID)
    decided_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decided_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    # By domain: what it answered, when, and why it refused.
    acknowledgements: Col[dict[str, dict[str, Any]]] = col(Json, default={})
