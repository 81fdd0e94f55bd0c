"""Templates with their versions: the platform's, which everybody reads, and tenants' own."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, NoticeRow, col, status


class Template(NoticeRow, table="notification.template", kind=Kind.NOTICE):
    """A template of a topic. The platform's are shared and belong to the operator."""

    template_key: Col[str] = col(sa.Text)
    topic_code: Col[str] = col(sa.Text)
    name: Col[str] = col(sa.Text)


class VersionStatus(StrEnum):
    """Status of a version. Only the approved version is used."""

    DRAFT = "draft"
    APPROVED = "approved"
    SUPERSEDED = "superseded"


class TemplateVersion(NoticeRow, table="notification.template_version", kind=Kind.NOTICE):
    """One version of a template: its variables, and its texts by language and channel."""

    template_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    status: Col[VersionStatus] = status(VersionStatus)
    variables: Col[list[dict[str, Any]]] = col(pg.JSONB)
    content: Col[dict[str, Any]] = col(pg.JSONB)
    content_hash: Col[str] = col(sa.Text)
    author_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    approved_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    approved_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
