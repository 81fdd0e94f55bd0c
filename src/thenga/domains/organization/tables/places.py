"""Where a company is, and the municipalities of the country."""

from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.organization.tables.records import Record
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Row, col


class Address(Record, table="organization.address", kind=Kind.PRIVATE):
    """An address of the organization."""

    kind: Col[str] = col(sa.Text)
    label: Col[str | None] = col(sa.Text, nullable=True, default=None)
    line1: Col[str] = col(sa.Text)
    line2: Col[str | None] = col(sa.Text, nullable=True, default=None)
    suburb: Col[str | None] = col(sa.Text, nullable=True, default=None)
    city: Col[str] = col(sa.Text)
    postal_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    country: Col[str] = col(sa.Text, default="ZA")
    province: Col[str | None] = col(sa.Text, nullable=True, default=None)
    municipality_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    ward_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    geo: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    registered_office: Col[bool] = col(sa.Boolean, default=False)
    primary: Col[bool] = col(sa.Boolean, default=False)
    valid_from: Col[date | None] = col(sa.Date, nullable=True, default=None)
    valid_to: Col[date | None] = col(sa.Date, nullable=True, default=None)
    evidence_refs: Col[list[dict[str, Any]]] = col(pg.JSONB, default=[])


class Municipality(Row, table="organization.municipality", kind=Kind.CATALOGUE):
    """One metro, district or local municipality, by the code of the Demarcation Board."""

    code: Col[str] = col(sa.Text)
    name: Col[str] = col(sa.Text)
    category: Col[str] = col(sa.Text)
    province: Col[str] = col(sa.Text)
    district_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    valid_from: Col[date] = col(sa.Date)
    valid_to: Col[date | None] = col(sa.Date, nullable=True, default=None)
