"""What people and organizations have set, and what is known of an organization."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, KnownTenant, TenantRow, col


class Preference(TenantRow, table="notification.preference", kind=Kind.PRIVATE):
    """Channels of one topic, or of all (`topic_code` null), for a person or all members.

    Its ID follows from the organization, the person and the topic, so that a preference which
    was never stored has one too.
    """

    user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    topic_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    channels: Col[dict[str, str]] = col(pg.JSONB)
    quiet_hours: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    language: Col[str | None] = col(sa.Text, nullable=True, default=None)


class Tenant(KnownTenant, table="notification.tenant", kind=Kind.PRIVATE, told=False):
    """An organization as Organization announced it: whether it is a sandbox."""
