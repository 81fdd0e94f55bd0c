"""What a tender asks for."""

from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Json, NoticeRow, TenantRow, col, status


class RequirementStatus(StrEnum):
    """Status of a requirement. Replaced ones stay readable in their set."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETIRED = "retired"


class Requirement(NoticeRow, table="opportunity.requirement", kind=Kind.NOTICE):
    """A requirement in the versions of its set from `since_set` up to before `until_set`."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    requirement_class: Col[str] = col(sa.Text)
    points: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    title: Col[str] = col(sa.Text)
    text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    criterion: Col[dict[str, Any]] = col(Json)
    criterion_kind: Col[str] = col(sa.Text)
    code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    evidence_kinds: Col[list[str]] = col(pg.ARRAY(sa.Text))
    citation: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    gate: Col[str] = col(sa.Text)
    cure: Col[str] = col(sa.Text, default="none")
    status: Col[RequirementStatus] = status(RequirementStatus, default=RequirementStatus.ACTIVE)
    origin: Col[str] = col(sa.Text, default="captured")
    ordinal: Col[int] = col(sa.Integer)
    since_set: Col[int] = col(sa.Integer)
    until_set: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    replaces_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class RequirementSet(TenantRow, table="opportunity.requirement_set", kind=Kind.PRIVATE, told=False):
    """The set that a company keeps for itself on a tender of somebody else."""

    tender_opportunity_id: Col[UUID] = col(pg.UUID)
    set_version: Col[int] = col(sa.Integer, default=0)
    last_ordinal: Col[int] = col(sa.Integer, default=0)
