"""The keys of sealed values; destroying one destroys every version that it sealed."""

from datetime import date, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Sealed, TenantRow, col


class DataKey(TenantRow, table="organization.data_key", kind=Kind.PRIVATE):
    """The key of one person or company, itself sealed; null once it was destroyed (ORG-16)."""

    subject_type: Col[str] = col(sa.Text)
    subject_id: Col[UUID] = col(pg.UUID)
    sealed_key: Col[bytes | None] = col(
        sa.LargeBinary,
        nullable=True,
        default=None,
        sealed=Sealed("organization-data-keys", ("organization_id", "subject_type", "subject_id")),
    )
    destroy_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    destroyed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
