"""API keys: what an organization's own programs carry instead of a session."""

from datetime import datetime
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class ApiKeyStatus(StrEnum):
    """Status of an API key."""

    ACTIVE = "active"
    ROTATING = "rotating"
    REVOKED = "revoked"
    EXPIRED = "expired"


class ApiKey(TenantRow, table="identity.api_key", kind=Kind.PRIVATE):
    """A key; its text is shown once and kept only as a hash."""

    hash: Col[bytes] = col(sa.LargeBinary, secret=True)
    name: Col[str] = col(sa.Text)
    scopes: Col[list[str]] = col(pg.ARRAY(sa.Text))
    environment: Col[str] = col(sa.Text)
    prefix: Col[str] = col(sa.Text)
    last4: Col[str] = col(sa.Text)
    allowed_networks: Col[list[IPv4Network | IPv6Network]] = col(pg.ARRAY(pg.CIDR))
    status: Col[ApiKeyStatus] = status(ApiKeyStatus)
    expires_at: Col[datetime] = col(Instant)
    sponsor_user_id: Col[UUID] = col(pg.UUID)
    sponsor_state: Col[str] = col(sa.Text, default="present")
    grace_ends_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    rotated_from_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    rotated_to_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    warned_days: Col[int | None] = col(sa.BigInteger, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    # Gathered in each process and written every ten seconds (IDN-42): no version, no audit row.
    last_used_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    last_used_network: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
