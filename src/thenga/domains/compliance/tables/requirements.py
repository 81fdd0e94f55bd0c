"""The profile of a company, and the requirements that it keeps."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, KnownTenant, TenantRow, col, status


class Origin(StrEnum):
    """Where a requirement comes from."""

    CATALOGUE = "catalogue"
    OWN = "own"
    TENDER = "tender"


class Applicability(StrEnum):
    """Whether a requirement applies; `undetermined` if a fact or an answer is missing (CMP-4)."""

    APPLICABLE = "applicable"
    NOT_APPLICABLE = "not_applicable"
    UNDETERMINED = "undetermined"


class Tenant(KnownTenant, table="compliance.tenant", kind=Kind.PRIVATE, told=False):
    """An organization as Organization announced it."""


class Profile(TenantRow, table="compliance.profile", kind=Kind.PRIVATE):
    """What a company says of itself here; identity facts stay with Organization (CMP-2)."""

    status: Col[str] = col(sa.Text, default="active")
    spheres: Col[list[str]] = col(pg.ARRAY(sa.Text))
    answers: Col[dict[str, bool]] = col(pg.JSONB)
    responsible_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    fact_basis: Col[list[dict[str, Any]]] = col(pg.JSONB)  # [{ref, version}], never values
    facts_missing: Col[list[str]] = col(pg.JSONB)  # fact keys that nobody has stated
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Requirement(TenantRow, table="compliance.requirement", kind=Kind.PRIVATE):
    """One thing that a company must prove.

    A row of the catalogue has only a code: the definition in force on the evaluated day says the
    rest. `subjects` are the company and, where each has to prove it, its directors.
    """

    origin: Col[Origin] = status(Origin)
    definition_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    tender_opportunity_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    tender_requirement_ref: Col[str | None] = col(sa.Text, nullable=True, default=None)
    title: Col[str | None] = col(sa.Text, nullable=True, default=None)
    description: Col[str | None] = col(sa.Text, nullable=True, default=None)
    component: Col[str | None] = col(sa.Text, nullable=True, default=None)
    weight: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    gate: Col[str | None] = col(sa.Text, nullable=True, default=None)
    proof: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    validity: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    params: Col[dict[str, Any]] = col(pg.JSONB)
    subjects: Col[list[dict[str, Any]]] = col(pg.JSONB)  # [{kind, ref}]
    owner_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    due_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    ends_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    applicability: Col[Applicability] = status(Applicability)
    because: Col[list[dict[str, Any]]] = col(pg.JSONB)
    undetermined_since: Col[datetime | None] = col(Instant, nullable=True, default=None)
