"""What was disclosed of a company, to whom and for what; never the values."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, TenantRow, col


class Disclosure(TenantRow, table="organization.disclosure", kind=Kind.PRIVATE):
    """One disclosure of sealed or masked values; added, never changed (ORG-14).

    `subjects` names type, identifier, version and fields of each fact or record.
    """

    purpose: Col[str] = col(sa.Text)
    subjects: Col[list[dict[str, Any]]] = col(pg.JSONB)
    reference: Col[dict[str, Any]] = col(pg.JSONB)
    on_behalf_of: Col[UUID] = col(pg.UUID)
    command_key: Col[str] = col(sa.Text)
