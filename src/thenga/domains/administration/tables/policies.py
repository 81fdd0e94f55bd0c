"""Policies, from submission to the moment their domain enforces them."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, Row, col, status


class PolicyKind(StrEnum):
    """`parameters` is a JSON document of the target domain, `access` a Cedar text for Identity."""

    PARAMETERS = "parameters"
    ACCESS = "access"


class PolicyStatus(StrEnum):
    """Status of a policy. `effective` means that its domain enforces it now."""

    SUBMITTED = "submitted"
    APPROVED = "approved"
    PUBLISHED = "published"
    ACKNOWLEDGED = "acknowledged"
    EFFECTIVE = "effective"
    REFUSED = "refused"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


class PolicyConfiguration(Row, table="administration.policy_configuration", kind=Kind.PLATFORM):
    """One numbered document of a policy."""

    policy_key: Col[str] = col(sa.Text)
    policy_number: Col[int] = col(sa.Integer)
    based_on: Col[int] = col(sa.Integer)
    target_domain: Col[str] = col(sa.Text)
    kind: Col[PolicyKind] = status(PolicyKind)
    document: Col[Any] = col(Json, nullable=True)
    document_hash: Col[str] = col(sa.Text)
    effective_from: Col[datetime] = col(Instant)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[PolicyStatus] = status(PolicyStatus, default=PolicyStatus.SUBMITTED)
    created_by: Col[UUID] = col(pg.UUID)
    approved_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    approved_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    blocked: Col[str | None] = col(sa.Text, nullable=True, default=None)
    published_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    publish_attempts: Col[int] = col(sa.Integer, default=0)
    acknowledged_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    refusal_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    # Acknowledgements of another domain, for another number or after the first.
    ignored_acknowledgements: Col[int] = col(sa.Integer, default=0)
    due_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
