"""The catalogue: dated requirement definitions and document types (CMP-3)."""

from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Row, col


class CatalogueEntry(Row, table="compliance.catalogue_entry", kind=Kind.PLATFORM):
    """A dated row that staff wrote; a job copies it to the catalogue (decision 0020)."""

    entry_kind: Col[str] = col(sa.Text)  # definition, document_type
    code: Col[str] = col(sa.Text)
    effective_from: Col[date] = col(sa.Date)
    content: Col[dict[str, Any]] = col(pg.JSONB)
    written_by: Col[UUID] = col(pg.UUID)
    affected_organizations: Col[int | None] = col(sa.Integer, nullable=True, default=None)


class RequirementDefinition(Row, table="compliance.requirement_definition", kind=Kind.CATALOGUE):
    """What a company must be able to prove, from a day on; never edited once in force."""

    code: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    component: Col[str] = col(sa.Text)
    weight: Col[int] = col(sa.Integer)
    gate: Col[str] = col(sa.Text)
    hard_when: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    locked: Col[bool] = col(sa.Boolean)
    spheres: Col[list[str]] = col(pg.ARRAY(sa.Text))
    applies_when: Col[dict[str, Any]] = col(pg.JSONB)
    per_subject: Col[str] = col(sa.Text)
    proof: Col[dict[str, Any]] = col(pg.JSONB)
    validity: Col[dict[str, Any]] = col(pg.JSONB)
    recheck_days: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    min_assurance: Col[str] = col(sa.Text)
    needed_at: Col[list[str]] = col(pg.ARRAY(sa.Text))
    period: Col[str] = col(sa.Text)
    effective_from: Col[date] = col(sa.Date)
    effective_to: Col[date | None] = col(sa.Date, nullable=True, default=None)
    source: Col[dict[str, Any]] = col(pg.JSONB)
    catalogue_version: Col[int] = col(sa.Integer)


class DocumentType(Row, table="compliance.document_type", kind=Kind.CATALOGUE):
    """A kind of paper: who may see it, which files it may be, and what it says."""

    code: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    document_class: Col[str] = col(sa.Text)
    media_types: Col[list[str]] = col(pg.ARRAY(sa.Text))
    max_bytes: Col[int] = col(sa.BigInteger)
    facts: Col[dict[str, Any]] = col(pg.JSONB)
    sealed_fields: Col[list[str]] = col(pg.ARRAY(sa.Text))
    effective_from: Col[date] = col(sa.Date)
    effective_to: Col[date | None] = col(sa.Date, nullable=True, default=None)
    source: Col[dict[str, Any]] = col(pg.JSONB)
    catalogue_version: Col[int] = col(sa.Integer)
