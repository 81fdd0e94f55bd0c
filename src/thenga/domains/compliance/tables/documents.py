"""Documents, their versions with the files, and tickets to download them."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Row, Sealed, TenantRow, col, status
from thenga.kernel.files.contents import ContentRow


class DocumentStatus(StrEnum):
    """Status of a document. Only the hash of an erased document is kept."""

    ACTIVE = "active"
    ERASED = "erased"


class Document(TenantRow, table="compliance.document", kind=Kind.PRIVATE):
    """A paper of a company. `current_version` is the newest clean one (0: none yet), and
    `latest_version` the last begun. The facts stand in the version.

    `brought_by` is who brought its newest file, or who added it while there is none (CMP-48).
    `next_check_at` is the day on which its expiry is told next.
    """

    document_type_code: Col[str] = col(sa.Text)
    document_class: Col[str] = col(sa.Text)
    title: Col[str | None] = col(sa.Text, nullable=True, default=None)
    subject_kind: Col[str] = col(sa.Text)  # organization, director, person, partner
    subject_ref: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    brought_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    purpose: Col[str | None] = col(sa.Text, nullable=True, default=None)
    basis: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status: Col[DocumentStatus] = status(DocumentStatus, default=DocumentStatus.ACTIVE)
    current_version: Col[int] = col(sa.Integer, default=0)
    latest_version: Col[int] = col(sa.Integer, default=1)
    # Of the current version, for lists, sorts and expiry.
    expires_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    valid_until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    valid_basis: Col[str | None] = col(sa.Text, nullable=True, default=None)
    renewal_expected_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    renewal_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    renewal_note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    destroy_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class DocumentVersion(ContentRow, table="compliance.document_version", kind=Kind.PRIVATE):
    """One file of a document and what this paper says; bytes are never replaced. Names and
    numbers on it stay out of the trail, which outlives them (CMP-44).

    `next_check_at` is when its content is scanned, lapses or is destroyed.
    """

    document_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    file_name: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    issued_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    expires_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    document_number: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    issuer: Col[str | None] = col(sa.Text, nullable=True, default=None)
    holder_name: Col[str | None] = col(sa.Text, nullable=True, default=None, secret=True)
    period: Col[str | None] = col(sa.Text, nullable=True, default=None)
    attributes: Col[dict[str, Any]] = col(pg.JSONB, secret=True)
    attributes_sealed: Col[bytes | None] = col(
        sa.LargeBinary,
        nullable=True,
        default=None,
        sealed=Sealed("document-attributes", ("organization_id", "id")),
    )
    valid_until: Col[date | None] = col(sa.Date, nullable=True, default=None)
    valid_basis: Col[str | None] = col(sa.Text, nullable=True, default=None)
    pages: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    uploaded_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    facts_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    facts_source: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)


class DownloadTicket(Row, table="compliance.download_ticket", kind=Kind.BEARER, key=("hash",)):
    """A secret that downloads one version for one person, for a few minutes and a few times."""

    hash: Col[bytes] = col(sa.LargeBinary)
    organization_id: Col[UUID] = col(pg.UUID)
    document_id: Col[UUID] = col(pg.UUID)
    version_id: Col[UUID] = col(pg.UUID)
    user_id: Col[UUID] = col(pg.UUID)
    session_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    purpose: Col[str | None] = col(sa.Text, nullable=True, default=None)
    uses_left: Col[int] = col(sa.Integer)
    expires_at: Col[datetime] = col(Instant)
