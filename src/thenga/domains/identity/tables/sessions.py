"""Where people are signed in, from which devices, and the tokens that show it."""

from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, PersonalRow, Row, TenantRow, col, status

Hash = sa.LargeBinary


class SessionStatus(StrEnum):
    """Status of a session."""

    PENDING_MFA = "pending_mfa"
    ACTIVE = "active"
    SIGNED_OUT = "signed_out"
    REVOKED = "revoked"
    EXPIRED = "expired"


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
    device_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    device_label: Col[str] = col(sa.Text, default="")
    device_family: Col[str] = col(sa.Text, default="")
    idle_for: Col[timedelta] = col(sa.Interval, default=timedelta(days=14))


class SessionUse(TenantRow, table="identity.session_use", kind=Kind.TWO_PARTY, told=False):
    """That a session was used in an organization: what a member manager sees of it."""

    user_id: Col[UUID] = col(pg.UUID)
    session_id: Col[UUID] = col(pg.UUID)
    device_label: Col[str] = col(sa.Text)
    device_family: Col[str] = col(sa.Text)
    network: Col[str] = col(sa.Text)
    last_seen_at: Col[datetime] = col(Instant)
    ended_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class UseNote(Row, table="identity.use_note", kind=Kind.LEDGER):
    """A use that a process saw and wrote down; the system login folds it in (IDN-42)."""

    organization_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    session_id: Col[UUID] = col(pg.UUID)
    user_id: Col[UUID] = col(pg.UUID)
    used_in: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    network: Col[str] = col(sa.Text)
    seen_at: Col[datetime] = col(Instant)


class KnownDevice(PersonalRow, table="identity.known_device", kind=Kind.PERSONAL):
    """A device from which the person signed in before."""

    label: Col[str] = col(sa.Text)
    family: Col[str] = col(sa.Text)
    last_seen_at: Col[datetime] = col(Instant)
    removed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class DeviceToken(Row, table="identity.device_token", kind=Kind.BEARER, key=("hash",)):
    """What a known device shows at sign-in; random, kept only as its hash."""

    hash: Col[bytes] = col(Hash)
    user_id: Col[UUID] = col(pg.UUID)
    device_id: Col[UUID] = col(pg.UUID)


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
