"""Invoices with their lines, credit notes, payments and PDFs."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class InvoiceKind(StrEnum):
    """Type of claim that an invoice makes."""

    PROGRESS = "progress"
    ADVANCE = "advance"
    RETENTION_RELEASE = "retention_release"


class InvoiceStatus(StrEnum):
    """Status of an invoice."""

    DRAFT = "draft"
    SUBMITTED = "submitted"
    RECEIVED = "received"
    RETURNED = "returned"
    APPROVED = "approved"
    CREDITED = "credited"
    SETTLED = "settled"
    DISCARDED = "discarded"


class ReturnReason(StrEnum):
    """Reason for returning an invoice."""

    MISSING_PAPERS = "missing_papers"
    WRONG_ADDRESS = "wrong_address"
    WRONG_AMOUNT = "wrong_amount"
    WRONG_VAT = "wrong_vat"
    WRONG_PARTY = "wrong_party"
    WORK_NOT_ACCEPTED = "work_not_accepted"


class Invoice(TenantRow, table="contract.invoice", kind=Kind.PRIVATE):
    """A claim to the buyer. Once it has a number only its money and its clock move."""

    workspace_id: Col[UUID] = col(pg.UUID)
    kind: Col[InvoiceKind] = status(InvoiceKind)
    status: Col[InvoiceStatus] = status(InvoiceStatus, default=InvoiceStatus.DRAFT)
    status_reason: Col[str | None] = col(sa.Text, nullable=True, default=None)
    status_changed_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    status_changed_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    return_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    settled_from: Col[str | None] = col(sa.Text, nullable=True, default=None)
    number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    external_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    document_ref: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    replaces_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    supply_date: Col[date | None] = col(sa.Date, nullable=True, default=None)
    note: Col[str | None] = col(sa.Text, nullable=True, default=None)
    currency: Col[str] = col(sa.Text)
    rate_percent: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    work_minor: Col[int] = col(sa.BigInteger, default=0)
    retained_minor: Col[int] = col(sa.BigInteger, default=0)
    recovered_minor: Col[int] = col(sa.BigInteger, default=0)
    consideration_minor: Col[int] = col(sa.BigInteger, default=0)
    net_minor: Col[int] = col(sa.BigInteger, default=0)
    vat_minor: Col[int] = col(sa.BigInteger, default=0)
    payable_minor: Col[int] = col(sa.BigInteger, default=0)
    claimed_minor: Col[int] = col(sa.BigInteger, default=0)
    paid_minor: Col[int] = col(sa.BigInteger, default=0)
    credited_minor: Col[int] = col(sa.BigInteger, default=0)
    written_off_minor: Col[int] = col(sa.BigInteger, default=0)
    disputed_minor: Col[int] = col(sa.BigInteger, default=0)
    dispute_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    dispute_since: Col[date | None] = col(sa.Date, nullable=True, default=None)
    submitted_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    issued_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    issued_by: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    received_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    due_on: Col[date | None] = col(sa.Date, nullable=True, default=None)
    clock_history: Col[list[dict[str, Any]]] = col(pg.JSONB, default=[])
    told_bucket: Col[str | None] = col(sa.Text, nullable=True, default=None)
    strength: Col[str | None] = col(sa.Text, nullable=True, default=None)
    printed: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    seller_refs: Col[list[dict[str, Any]]] = col(pg.JSONB, default=[])
    warnings: Col[list[str]] = col(pg.JSONB, default=[])
    pdf: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(Instant, nullable=True, default=None)

    @property
    def outstanding_minor(self) -> int:
        return self.payable_minor - self.paid_minor - self.credited_minor - self.written_off_minor


class InvoiceLine(TenantRow, table="contract.invoice_line", kind=Kind.PRIVATE):
    """One line of an invoice; lines of drafts are replaced whole."""

    invoice_id: Col[UUID] = col(pg.UUID)
    position: Col[int] = col(sa.Integer)
    milestone_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    description: Col[str] = col(sa.Text)
    quantity: Col[Decimal] = col(sa.Numeric)
    unit: Col[str | None] = col(sa.Text, nullable=True, default=None)
    amount_minor: Col[int] = col(sa.BigInteger)
    credited_minor: Col[int] = col(sa.BigInteger, default=0)


class CreditNote(TenantRow, table="contract.credit_note", kind=Kind.PRIVATE):
    """What is taken back of an invoice, in a number series of its own."""

    workspace_id: Col[UUID] = col(pg.UUID)
    invoice_id: Col[UUID] = col(pg.UUID)
    number: Col[str] = col(sa.Text)
    reason_code: Col[str] = col(sa.Text)
    explanation: Col[str] = col(sa.Text)
    currency: Col[str] = col(sa.Text)
    rate_percent: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    amount_minor: Col[int] = col(sa.BigInteger)
    consideration_minor: Col[int] = col(sa.BigInteger)
    net_minor: Col[int] = col(sa.BigInteger)
    vat_minor: Col[int] = col(sa.BigInteger)
    work_minor: Col[int] = col(sa.BigInteger)
    issued_on: Col[date] = col(sa.Date)
    issued_at: Col[datetime] = col(Instant)
    printed: Col[dict[str, Any]] = col(pg.JSONB)
    pdf: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)


class PaymentState(StrEnum):
    """State of a payment."""

    RECORDED = "recorded"
    CONFIRMED = "confirmed"
    REVERSED = "reversed"
    WITHDRAWN = "withdrawn"


class Payment(TenantRow, table="contract.payment", kind=Kind.PRIVATE):
    """Money that the buyer paid on one invoice; only confirmed money settles it."""

    workspace_id: Col[UUID] = col(pg.UUID)
    invoice_id: Col[UUID] = col(pg.UUID)
    state: Col[PaymentState] = status(PaymentState, default=PaymentState.RECORDED)
    amount_minor: Col[int] = col(sa.BigInteger)
    currency: Col[str] = col(sa.Text)
    received_on: Col[date] = col(sa.Date)
    bank_reference: Col[str | None] = col(sa.Text, nullable=True, default=None)
    days_from_receipt: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    reason_code: Col[str | None] = col(sa.Text, nullable=True, default=None)


class Edition(StrEnum):
    """The original, and what every later reader gets."""

    ORIGINAL = "original"
    COPY = "copy"


class DocumentPdf(TenantRow, table="contract.document_pdf", kind=Kind.PRIVATE):
    """The bytes of a printed document, made once."""

    document_id: Col[UUID] = col(pg.UUID)
    edition: Col[Edition] = status(Edition)
    sha256: Col[str] = col(sa.Text)
    content: Col[bytes] = col(sa.LargeBinary, secret=True)
