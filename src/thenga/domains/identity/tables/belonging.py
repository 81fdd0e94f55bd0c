"""Who belongs where, and what they may do there."""

from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, TenantRow, col, status


class MembershipStatus(StrEnum):
    """Status of a membership."""

    PENDING = "pending"
    ACTIVE = "active"
    INACTIVE = "inactive"
    REMOVED = "removed"


class AssignmentStatus(StrEnum):
    """Status of an assignment."""

    SCHEDULED = "scheduled"
    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"


class InvitationStatus(StrEnum):
    """Status of an invitation."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    REVOKED = "revoked"
    EXPIRED = "expired"


class RoleStatus(StrEnum):
    """Status of a role."""

    DRAFT = "draft"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    RETIRED = "retired"


class TenantMirror(TenantRow, table="identity.tenant_mirror", kind=Kind.PRIVATE):
    """What the gate must know of an organization."""

    status: Col[str] = col(sa.Text)
    sandbox: Col[bool] = col(sa.Boolean, default=False)
    ahead: Col[timedelta] = col(sa.Interval, default=timedelta(0))
    source_sequence: Col[int] = col(sa.BigInteger, default=0)
    # Permission codes, or what they begin with, that the organization may not change by now.
    capabilities_off: Col[list[str]] = col(pg.ARRAY(sa.Text), default=[])


class Membership(TenantRow, table="identity.membership", kind=Kind.TWO_PARTY):
    """That a person belongs to an organization."""

    user_id: Col[UUID] = col(pg.UUID)
    status: Col[MembershipStatus] = status(MembershipStatus)
    origin: Col[str] = col(sa.Text)
    title: Col[str | None] = col(sa.Text, nullable=True, default=None)
    # The card that other members see; written only from the person's side.
    display_name: Col[str] = col(sa.Text, default="", secret=True)
    email: Col[str] = col(sa.Text, default="", secret=True)
    email_key: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None, secret=True)
    aal2_ready: Col[bool] = col(sa.Boolean, default=False)
    joined_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class Assigned(TenantRow):
    """What roles and single permissions that were given have in common; time moves both.

    Without a scope it counts in the whole organization.
    """

    scope_domain: Col[str | None] = col(sa.Text, nullable=True, default=None)
    scope_type: Col[str | None] = col(sa.Text, nullable=True, default=None)
    scope_id: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[AssignmentStatus] = status(AssignmentStatus)
    valid_from: Col[datetime] = col(Instant)
    valid_to: Col[datetime | None] = col(Instant, nullable=True, default=None)
    reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    assigned_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decision_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class RoleAssignment(Assigned, table="identity.role_assignment", kind=Kind.PRIVATE):
    """A role that a member has in an organization or on one resource, for a time."""

    membership_id: Col[UUID] = col(pg.UUID)
    role_code: Col[str] = col(sa.Text)


class PermissionAssignment(Assigned, table="identity.permission_assignment", kind=Kind.PRIVATE):
    """One permission given or denied to a member, or to all who have a custom role."""

    target_type: Col[str] = col(sa.Text)
    target_id: Col[UUID] = col(pg.UUID)
    permission: Col[str] = col(sa.Text)
    effect: Col[str] = col(sa.Text)


class CustomRole(TenantRow, table="identity.custom_role", kind=Kind.PRIVATE):
    """A role that an organization made for itself; it counts while active or deprecated."""

    code: Col[str] = col(sa.Text)
    name: Col[str] = col(sa.Text)
    description: Col[str | None] = col(sa.Text, nullable=True, default=None)
    permissions: Col[list[str]] = col(pg.ARRAY(sa.Text))
    status: Col[RoleStatus] = status(RoleStatus)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class Invitation(TenantRow, table="identity.invitation", kind=Kind.PRIVATE):
    """Somebody was asked by letter to join; it keeps a seat while it is open (IDN-22)."""

    email: Col[str] = col(sa.Text, secret=True)
    email_key: Col[bytes] = col(sa.LargeBinary, secret=True)
    role_codes: Col[list[str]] = col(pg.ARRAY(sa.Text))
    scope_domain: Col[str | None] = col(sa.Text, nullable=True, default=None)
    scope_type: Col[str | None] = col(sa.Text, nullable=True, default=None)
    scope_id: Col[str | None] = col(sa.Text, nullable=True, default=None)
    message: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    status: Col[InvitationStatus] = status(InvitationStatus)
    invited_by_user_id: Col[UUID] = col(pg.UUID)
    sent_count: Col[int] = col(sa.BigInteger, default=0)
    last_sent_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    delivered_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    link_hash: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, secret=True
    )  # of the newest letter; links of earlier letters work too
    expires_at: Col[datetime] = col(Instant)
    reminded_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    accepted_by_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    membership_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class PlatformRoleAssignment(Row, table="identity.platform_role_assignment", kind=Kind.PLATFORM):
    """A platform role of a member of staff, for a time."""

    user_id: Col[UUID] = col(pg.UUID)
    role_code: Col[str] = col(sa.Text)
    status: Col[AssignmentStatus] = status(AssignmentStatus)
    valid_from: Col[datetime] = col(Instant)
    valid_to: Col[datetime | None] = col(Instant, nullable=True, default=None)
    reason: Col[str] = col(sa.Text)
    assigned_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class Role(Row, table="identity.role", kind=Kind.CATALOGUE):
    """A built-in role."""

    code: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    audience: Col[str] = col(sa.Text)


class PermissionEntry(Row, table="identity.permission", kind=Kind.CATALOGUE):
    """One permission of the catalogue, gathered from the manifests (IDN-23)."""

    code: Col[str] = col(sa.Text)
    domain: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    effect: Col[str] = col(sa.Text)
    audiences: Col[list[str]] = col(pg.ARRAY(sa.Text))
    sensitivity: Col[str] = col(sa.Text)
    feature: Col[str | None] = col(sa.Text, nullable=True, default=None)
    scopes: Col[list[str]] = col(pg.ARRAY(sa.Text), default=[])
    keys: Col[bool] = col(sa.Boolean)
    agents: Col[str] = col(sa.Text)
    while_suspended: Col[bool] = col(sa.Boolean)
    half: Col[bool] = col(sa.Boolean, default=False)
    people_only: Col[bool] = col(sa.Boolean, default=False)
    roles: Col[list[str]] = col(pg.ARRAY(sa.Text))
    status: Col[str] = col(sa.Text)
