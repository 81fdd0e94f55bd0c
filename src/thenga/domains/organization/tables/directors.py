"""Who directs or owns a company, and what is declared and found about them."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.organization.tables.records import Record
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class DirectorStatus(StrEnum):
    """Status of a director."""

    ACTIVE = "active"
    RESIGNED = "resigned"


class DirectorVerification(StrEnum):
    """Verification status of a director."""

    UNVERIFIED = "unverified"
    PENDING = "pending"
    VERIFIED = "verified"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    EXPIRED = "expired"


class Director(Record, table="organization.director", kind=Kind.PRIVATE):
    """A director, member, trustee, partner or owner.

    The identity number stands sealed under the person's own key, beside a hash that finds it
    inside this company and a mask that is shown (ORG-16). What a check made of the record is not
    the customer's word, so no version holds it (ORG-1).
    """

    unseen = frozenset(
        {
            "id_number_index",
            "id_number_version",
            "verification_status",
            "verified_until",
            "erased_at",
        }
    )

    given_names: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    surname: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    role: Col[str] = col(sa.Text)
    id_type: Col[str] = col(sa.Text)
    id_number: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None, secret=True)
    id_number_index: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, secret=True
    )
    id_number_version: Col[int] = col(sa.BigInteger, default=1)
    id_number_masked: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    id_country: Col[str | None] = col(sa.Text, nullable=True, default=None)
    nationality: Col[str | None] = col(sa.Text, nullable=True, default=None)
    warnings: Col[list[str]] = col(pg.ARRAY(sa.Text), default=[])
    shareholding_percent: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    beneficial_owner: Col[bool] = col(sa.Boolean, default=False)
    appointed_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    resigned_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    email: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    phone: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    verification_status: Col[DirectorVerification] = status(
        DirectorVerification, default=DirectorVerification.UNVERIFIED
    )
    status: Col[DirectorStatus] = status(DirectorStatus, default=DirectorStatus.ACTIVE)
    verified_until: Col[datetime | None] = col(Instant, nullable=True, default=None)
    erased_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class FlagDeclaration(TenantRow, table="organization.flag_declaration", kind=Kind.PRIVATE):
    """What the company declares of a director, such as that they serve the state (ORG-13)."""

    director_id: Col[UUID] = col(pg.UUID)
    flag: Col[str] = col(sa.Text)
    declared_value: Col[str] = col(sa.Text)
    declared_on: Col[date] = col(sa.Date)
    until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    source: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    particulars: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None, secret=True)
    declared_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class FlagFinding(TenantRow, table="organization.flag_finding", kind=Kind.PRIVATE):
    """What a verifier found of a director; it never changes what was declared (ORG-1, ORG-13)."""

    director_id: Col[UUID] = col(pg.UUID)
    flag: Col[str] = col(sa.Text)
    found_value: Col[str] = col(sa.Text)
    found_on: Col[date] = col(sa.Date)
    until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    source: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    particulars: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None, secret=True)
    found_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
