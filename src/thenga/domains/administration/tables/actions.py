"""The record of what staff did."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Json, Row, col


class AdminAction(Row, table="administration.admin_action", kind=Kind.PLATFORM, told=False):
    """One call of staff: what it changed, on what, why, and by which decision of Identity.

    Rows are never changed or removed. `changes` holds the first changes if there are too many;
    `digest` is the hash of all of them (ADM-3).
    """

    actor_id: Col[UUID] = col(pg.UUID)
    session_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    action: Col[str] = col(sa.Text)  # the permission
    resource_type: Col[str] = col(sa.Text)
    resource_id: Col[UUID] = col(pg.UUID)
    subject_organization_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    decision_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    outcome: Col[str] = col(sa.Text, default="done")
    request_id: Col[str] = col(sa.Text)
    reason: Col[str] = col(sa.Text)
    changes: Col[list[dict[str, Any]]] = col(Json, default=[])
    truncated: Col[bool] = col(sa.Boolean, default=False)
    digest: Col[str] = col(sa.Text)
