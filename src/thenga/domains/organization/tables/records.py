"""What every record has, and the versions that each change of one leaves behind."""

from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class RecordKind(StrEnum):
    """How a version was recorded."""

    # ORG-1: verifications and suggestions have tables of their own.
    CUSTOMER_SUPPLIED = "customer_supplied"
    IMPORTED = "imported"


class Record(TenantRow):
    """What every record of a company has besides its own fields; the projection of its versions.

    Columns marked `secret` are sealed in the versions under the record's own key. Bytes (sealed
    values, blind indexes) and the columns in `unseen` are means, not facts: no version holds them.
    """

    unseen: ClassVar[frozenset[str]] = frozenset()

    # Secret only so that audit rows stay small: the versions say the same.
    provenance: Col[dict[str, Any]] = col(pg.JSONB, default={}, secret=True)
    archived_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class RecordVersion(TenantRow, table="organization.record_version", kind=Kind.PRIVATE):
    """A record as it stood after one change; added, never changed, and citable (ORG-7)."""

    record_type: Col[str] = col(sa.Text)
    record_id: Col[UUID] = col(pg.UUID)
    record_version: Col[int] = col(sa.BigInteger)
    kind: Col[RecordKind] = status(RecordKind)
    source: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    changed_fields: Col[list[str]] = col(pg.ARRAY(sa.Text))
    snapshot: Col[dict[str, Any]] = col(pg.JSONB, secret=True)
    sealed: Col[bytes | None] = col(sa.LargeBinary, nullable=True, default=None, secret=True)
    actor_kind: Col[str] = col(sa.Text)
    actor_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
