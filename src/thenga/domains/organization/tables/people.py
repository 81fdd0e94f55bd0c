"""The people of a company: whom to write to, who works there, who directs it."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.organization.tables.records import Record
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class Contact(Record, table="organization.contact", kind=Kind.PRIVATE):
    """Whom to reach at the company, for what; an erased one has lost everything of the person."""

    unseen = frozenset({"erased_at"})

    kind: Col[str] = col(sa.Text)
    name: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    position: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    email: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    phone: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    preferred_channel: Col[str | None] = col(sa.Text, nullable=True, default=None)
    language: Col[str | None] = col(sa.Text, nullable=True, default=None)
    primary: Col[bool] = col(sa.Boolean, default=False)
    user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    valid_from: Col[date | None] = col(sa.Date, nullable=True, default=None)
    valid_to: Col[date | None] = col(sa.Date, nullable=True, default=None)
    reachability: Col[str] = col(sa.Text, default="unknown")
    reachability_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    erased_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class MemberStatus(StrEnum):
    """Status of a person's membership, as Identity reports it."""

    INVITED = "invited"
    ACTIVE = "active"
    LEFT = "left"


class MemberRef(TenantRow, table="organization.member_ref", kind=Kind.PRIVATE):
    """That somebody is invited or belongs here: references from Identity's events, no names."""

    membership_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    invitation_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    status: Col[MemberStatus] = status(MemberStatus)
    membership_status: Col[str | None] = col(sa.Text, nullable=True, default=None)
    owner: Col[bool] = col(sa.Boolean, default=False)
    source_sequence: Col[int] = col(sa.BigInteger, default=0)


class OrganizationUser(Record, table="organization.organization_user", kind=Kind.PRIVATE):
    """What the company itself says of somebody who works in it."""

    member_ref_id: Col[UUID] = col(pg.UUID)
    status: Col[MemberStatus] = status(MemberStatus, default=MemberStatus.ACTIVE)
    job_title: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    department: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    bid_roles: Col[list[str]] = col(pg.ARRAY(sa.Text), default=[])
    notes: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    signing_authority: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
