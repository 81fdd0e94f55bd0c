"""Pricing workbooks, approvals, submission packs and proofs of submission."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, TenantRow, col, status


class WorkbookStatus(StrEnum):
    """Status of a pricing workbook."""

    DRAFT = "draft"
    PENDING_APPROVAL = "pending_approval"
    APPROVED = "approved"
    LOCKED = "locked"


class Workbook(TenantRow, table="bid.workbook", kind=Kind.PRIVATE):
    """The price of a bid; one a workspace. Totals are those of the current version (BID-26)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    version_number: Col[int] = col(sa.Integer, default=1)
    content_sha256: Col[str] = col(sa.Text)
    total_minor: Col[int | None] = col(sa.BigInteger, nullable=True, default=None, secret=True)
    authors: Col[list[str]] = col(Json)
    status: Col[WorkbookStatus] = status(WorkbookStatus, default=WorkbookStatus.DRAFT)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class WorkbookVersion(TenantRow, table="bid.workbook_version", kind=Kind.PRIVATE):
    """The price as somebody entered it; never changed again."""

    workbook_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    content: Col[dict[str, Any]] = col(Json, secret=True)
    terms: Col[dict[str, Any]] = col(Json, secret=True)
    content_sha256: Col[str] = col(sa.Text)
    author_user_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class ApprovalStatus(StrEnum):
    """Status of an approval."""

    REQUESTED = "requested"
    APPROVED = "approved"
    REJECTED = "rejected"
    CHANGES_REQUESTED = "changes_requested"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    VOIDED = "voided"


class Approval(TenantRow, table="bid.approval", kind=Kind.PRIVATE):
    """Four eyes on exactly one version of a price or a pack (BID-37)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    kind: Col[str] = col(sa.Text)  # price, pack
    subject_id: Col[UUID] = col(pg.UUID)
    subject_version: Col[int] = col(sa.Integer)
    subject_sha256: Col[str] = col(sa.Text)
    approver_user_ids: Col[list[str]] = col(Json)
    needed_count: Col[int] = col(sa.Integer)
    needed_high: Col[bool] = col(sa.Boolean, default=False)
    decisions: Col[list[dict[str, Any]]] = col(Json)
    shown: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None, secret=True)
    shown_sha256: Col[str | None] = col(sa.Text, nullable=True, default=None)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    requested_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    expires_at: Col[datetime] = col(Instant)
    status: Col[ApprovalStatus] = status(ApprovalStatus, default=ApprovalStatus.REQUESTED)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)


class PackStatus(StrEnum):
    """Status of a submission pack."""

    ASSEMBLING = "assembling"
    BUILT = "built"
    FAILED = "failed"
    SEALED = "sealed"
    UNSEALED = "unsealed"
    SUBMITTED = "submitted"
    SUPERSEDED = "superseded"


class Pack(TenantRow, table="bid.pack", kind=Kind.PRIVATE):
    """What is submitted: pinned versions, findings, archives and their manifest (BID-41)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    number: Col[int] = col(sa.Integer)
    is_current: Col[bool] = col(sa.Boolean, default=True)
    file_order: Col[list[str]] = col(Json)
    extra_files: Col[dict[str, Any]] = col(Json)
    checklist: Col[dict[str, Any]] = col(Json)
    overrides: Col[dict[str, Any]] = col(Json)
    acknowledgements: Col[dict[str, Any]] = col(Json)
    build: Col[dict[str, Any]] = col(Json)
    build_number: Col[int] = col(sa.Integer, default=1)
    findings: Col[list[dict[str, Any]]] = col(Json)
    pins: Col[list[dict[str, Any]]] = col(Json)
    as_of: Col[datetime] = col(Instant)
    envelopes: Col[list[dict[str, Any]]] = col(Json)
    manifest_sha256: Col[str | None] = col(sa.Text, nullable=True, default=None)
    sealed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    sealed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    requested_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    status: Col[PackStatus] = status(PackStatus, default=PackStatus.ASSEMBLING)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class Proof(TenantRow, table="bid.proof", kind=Kind.PRIVATE):
    """That a pack was submitted; never changed again (BID-48)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    pack_id: Col[UUID] = col(pg.UUID)
    channel: Col[str] = col(sa.Text)
    submitted_at: Col[datetime] = col(Instant)
    place: Col[str | None] = col(sa.Text, nullable=True, default=None)
    receipt_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    received_by: Col[str | None] = col(sa.Text, nullable=True, default=None)
    copies: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    file_ids: Col[list[str]] = col(Json)
    manifest_sha256: Col[str] = col(sa.Text)
    recorded_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    recorded_late: Col[bool] = col(sa.Boolean, default=False)
