"""What Identity remembers: schema `identity`."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, PersonalRow, Row, TenantRow, col, status

Hash = sa.LargeBinary


class UserStatus(StrEnum):
    PENDING_VERIFICATION = "pending_verification"
    ACTIVE = "active"
    DISABLED = "disabled"
    ERASED = "erased"


class SessionStatus(StrEnum):
    PENDING_MFA = "pending_mfa"
    ACTIVE = "active"
    SIGNED_OUT = "signed_out"
    REVOKED = "revoked"
    EXPIRED = "expired"


class MembershipStatus(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    INACTIVE = "inactive"
    REMOVED = "removed"


class AssignmentStatus(StrEnum):
    SCHEDULED = "scheduled"
    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"


class UserAccount(PersonalRow, table="identity.user_account", kind=Kind.PERSONAL):
    """A person; `user_id` is the row's own identifier."""

    email: Col[str] = col(sa.Text, secret=True)
    display_name: Col[str] = col(sa.Text, secret=True)
    locale: Col[str] = col(sa.Text)
    time_zone: Col[str] = col(sa.Text)
    status: Col[UserStatus] = status(UserStatus)
    staff: Col[bool] = col(sa.Boolean, default=False)
    email_verified_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    last_sign_in_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class SignInName(Row, table="identity.sign_in_name", kind=Kind.BEARER, key=("hash",)):
    """An address as an account key; the only way from an address to a person."""

    hash: Col[bytes] = col(Hash)
    user_id: Col[UUID] = col(pg.UUID)
    link_hash: Col[bytes | None] = col(
        Hash, nullable=True, default=None
    )  # the one open link; older ones are dead


class Password(PersonalRow, table="identity.password", kind=Kind.PERSONAL):
    """What a password was hashed to."""

    phc: Col[str] = col(sa.Text, secret=True)


class OneTimeLink(Row, table="identity.one_time_link", kind=Kind.BEARER, key=("hash",)):
    """A link sent to an address; its text is sealed here only until it was handed over."""

    hash: Col[bytes] = col(Hash)
    purpose: Col[str] = col(sa.Text)
    account_key: Col[bytes] = col(Hash)
    user_id: Col[UUID] = col(pg.UUID)
    sealed: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None, secret=True)
    expires_at: Col[datetime] = col(Instant)
    used_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class Session(PersonalRow, table="identity.session", kind=Kind.PERSONAL):
    """A signed-in person on one device."""

    kind: Col[str] = col(sa.Text, default="interactive")
    status: Col[SessionStatus] = status(SessionStatus)
    assurance: Col[str] = col(sa.Text)
    methods: Col[list[str]] = col(pg.ARRAY(sa.Text))
    authenticated_at: Col[datetime] = col(Instant)
    proven_at: Col[datetime] = col(Instant)
    active_organization_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    last_seen_at: Col[datetime] = col(Instant)
    idle_expires_at: Col[datetime] = col(Instant)
    expires_at: Col[datetime] = col(Instant)
    network: Col[str] = col(sa.Text)
    ended_cause: Col[str | None] = col(sa.Text, nullable=True, default=None)


class AccessToken(Row, table="identity.access_token", kind=Kind.BEARER, key=("hash",)):
    """What a request carries; random, kept only as its hash."""

    hash: Col[bytes] = col(Hash)
    session_id: Col[UUID] = col(pg.UUID)
    user_id: Col[UUID] = col(pg.UUID)
    expires_at: Col[datetime] = col(Instant)


class RefreshToken(Row, table="identity.refresh_token", kind=Kind.BEARER, key=("hash",)):
    """What makes the next pair, once; within the grace the same pair again (IDN-3)."""

    hash: Col[bytes] = col(Hash)
    session_id: Col[UUID] = col(pg.UUID)
    user_id: Col[UUID] = col(pg.UUID)
    generation: Col[int] = col(sa.BigInteger)
    used_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    successor_sealed: Col[bytes | None] = col(
        sa.LargeBinary, nullable=True, default=None, secret=True
    )


class TenantMirror(TenantRow, table="identity.tenant_mirror", kind=Kind.PRIVATE):
    """What the gate must know of an organization."""

    status: Col[str] = col(sa.Text)
    sandbox: Col[bool] = col(sa.Boolean, default=False)
    ahead: Col[timedelta] = col(sa.Interval, default=timedelta(0))
    source_sequence: Col[int] = col(sa.BigInteger, default=0)


class Membership(TenantRow, table="identity.membership", kind=Kind.TWO_PARTY):
    """That a person belongs to an organization."""

    user_id: Col[UUID] = col(pg.UUID)
    status: Col[MembershipStatus] = status(MembershipStatus)
    origin: Col[str] = col(sa.Text)
    display_name: Col[str] = col(sa.Text, default="", secret=True)
    joined_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class RoleAssignment(TenantRow, table="identity.role_assignment", kind=Kind.PRIVATE):
    """A role that a member has in an organization, for a time."""

    membership_id: Col[UUID] = col(pg.UUID)
    role_code: Col[str] = col(sa.Text)
    status: Col[AssignmentStatus] = status(AssignmentStatus)
    valid_from: Col[datetime] = col(Instant)
    valid_to: Col[datetime | None] = col(Instant, nullable=True, default=None)
    assigned_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class DecisionRecord(TenantRow, table="identity.decision_record", kind=Kind.PRIVATE):
    """A decision worth keeping: every deny, every question (IDN-36)."""

    actor_kind: Col[str] = col(sa.Text)
    actor_id: Col[UUID] = col(pg.UUID)
    action: Col[str] = col(sa.Text)
    resource: Col[dict[str, Any]] = col(pg.JSONB)
    decision: Col[str] = col(sa.Text)
    reason_code: Col[str] = col(sa.Text)
    policy_version: Col[str] = col(sa.Text)
    channel: Col[str] = col(sa.Text)
    request_id: Col[str] = col(sa.Text)


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
    keys: Col[bool] = col(sa.Boolean)
    agents: Col[str] = col(sa.Text)
    while_suspended: Col[bool] = col(sa.Boolean)
    roles: Col[list[str]] = col(pg.ARRAY(sa.Text))
    status: Col[str] = col(sa.Text)


class PolicySet(Row, table="identity.policy_set", kind=Kind.CATALOGUE):
    """A version of the policies; the enforced one is named by every decision."""

    label: Col[str] = col(sa.Text)
    status: Col[str] = col(sa.Text)
    text: Col[str] = col(sa.Text)
