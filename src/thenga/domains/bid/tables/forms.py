"""The catalogue of forms, forms of bids, their signatures, and files."""

from datetime import date, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, Json, Row, TenantRow, col, status
from thenga.kernel.files.contents import ContentRow


class FormDefinition(Row, table="bid.form_definition", kind=Kind.CATALOGUE):
    """One edition of a form; `definition` holds its fields and its layout (BID-18)."""

    form_code: Col[str] = col(sa.Text)
    edition: Col[str] = col(sa.Text)
    regime: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    twin: Col[str | None] = col(sa.Text, nullable=True, default=None)
    effective_from: Col[date] = col(sa.Date)
    effective_to: Col[date | None] = col(sa.Date, nullable=True, default=None)
    superseded_by: Col[str | None] = col(sa.Text, nullable=True, default=None)
    stage: Col[str] = col(sa.Text)  # bid, award
    per_bidder: Col[bool] = col(sa.Boolean)
    signature: Col[bool] = col(sa.Boolean)
    mark: Col[str | None] = col(sa.Text, nullable=True, default=None)
    definition: Col[dict[str, Any]] = col(Json)


class FormStatus(StrEnum):
    """Status of a form."""

    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    SIGNED = "signed"
    VERIFIED = "verified"
    NOT_APPLICABLE = "not_applicable"
    OUTDATED = "outdated"


class SbdForm(TenantRow, table="bid.sbd_form", kind=Kind.PRIVATE):
    """A form of a bid; answers by reference have no value here (BID-19)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    form_code: Col[str] = col(sa.Text)
    edition: Col[str] = col(sa.Text)
    title: Col[str] = col(sa.Text)
    bidder_key: Col[str] = col(sa.Text, default="")
    answers: Col[dict[str, Any]] = col(Json)
    justification: Col[str | None] = col(sa.Text, nullable=True, default=None)
    file_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    rendering: Col[dict[str, Any] | None] = col(Json, nullable=True, default=None)
    completed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status: Col[FormStatus] = status(FormStatus, default=FormStatus.NOT_STARTED)
    status_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_text: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)


class Signature(TenantRow, table="bid.signature", kind=Kind.PRIVATE):
    """Who signed which bytes of a form (BID-21)."""

    form_id: Col[UUID] = col(pg.UUID)
    form_version: Col[int] = col(sa.Integer)
    signer_user_id: Col[UUID] = col(pg.UUID)
    method: Col[str] = col(sa.Text)
    capacity: Col[str] = col(sa.Text)
    rendering_sha256: Col[str] = col(sa.Text)
    payload_sha256: Col[str] = col(sa.Text)
    authority_ref: Col[dict[str, Any]] = col(Json)
    file_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    signed_at: Col[datetime] = col(Instant)
    checked_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    checked_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    voided_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    void_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)


class FactUse(TenantRow, table="bid.fact_use", kind=Kind.PRIVATE):
    """Which answer of a form cites which version of a fact or record (BID-25)."""

    workspace_id: Col[UUID] = col(pg.UUID)
    form_id: Col[UUID] = col(pg.UUID)
    field_id: Col[str] = col(sa.Text)
    fact_ref: Col[str] = col(sa.Text)
    fact_version: Col[int] = col(sa.Integer)
    material: Col[bool] = col(sa.Boolean, default=False)


class BidFile(ContentRow, table="bid.file", kind=Kind.PRIVATE):
    """A working file of a bid; those with prices are for those who may see prices.

    `document_class` is the strictest class of the company's documents in an archive, and of the
    sealed numbers in a printed form; none where there are ordinary ones alone (BID-56).
    """

    workspace_id: Col[UUID] = col(pg.UUID)
    name: Col[str] = col(sa.Text)
    purpose: Col[str] = col(sa.Text)
    price: Col[bool] = col(sa.Boolean, default=False)
    added_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    document_class: Col[str | None] = col(sa.Text, nullable=True, default=None)
