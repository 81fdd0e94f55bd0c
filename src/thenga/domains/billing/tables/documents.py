"""Documents: invoices and credit notes with their lines, billed days and PDFs."""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from thenga.domains.billing.tables.accounts import Book
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import Col, Instant, TenantRow, col, status


class InvoiceStatus(StrEnum):
    """Status of an invoice. A draft has no number; `uncollectible` means written off."""

    DRAFT = "draft"
    OPEN = "open"
    PAID = "paid"
    CREDITED = "credited"
    UNCOLLECTIBLE = "uncollectible"
    DISCARDED = "discarded"


class CollectionStatus(StrEnum):
    """How the payment of an invoice progresses, independent of the invoice's status."""

    NONE = "none"
    PENDING = "pending"
    PROCESSING = "processing"
    FAILED = "failed"
    DISPUTED = "disputed"
    SETTLED = "settled"


class Purpose(StrEnum):
    """Why an invoice was created: first payment, plan change, renewal, trial conversion, usage,
    or verification of a payment method."""

    FIRST = "first"
    CHANGE = "change"
    RENEWAL = "renewal"
    CONVERSION = "conversion"
    USAGE = "usage"
    METHOD = "method"


class LineKind(StrEnum):
    """What an invoice line charges for. `late_usage` was reported after its month was billed."""

    RECURRING = "recurring"
    PRORATION = "proration"
    USAGE = "usage"
    LATE_USAGE = "late_usage"
    ADJUSTMENT = "adjustment"


class CreditNoteStatus(StrEnum):
    """Status of a credit note. A draft has no number yet."""

    DRAFT = "draft"
    ISSUED = "issued"
    DISCARDED = "discarded"


class CreditReason(StrEnum):
    """Why a credit note was issued."""

    PLAN_CHANGE = "plan_change"
    CANCELLATION = "cancellation"
    UNDELIVERED = "undelivered"
    ERROR = "error"
    GOODWILL = "goodwill"


class DocumentKind(StrEnum):
    """Each kind has its own number series (BIL-25)."""

    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note"


class Edition(StrEnum):
    """A supply has one tax invoice, so every further print is marked as a copy (BIL-26)."""

    ORIGINAL = "original"
    COPY = "copy"


class Invoice(TenantRow, table="billing.invoice", kind=Kind.PRIVATE):
    """An amount owed. Its contents never change once it has a number (BIL-27)."""

    account_id: Col[UUID] = col(pg.UUID)
    subscription_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    purpose: Col[Purpose] = status(Purpose)
    collection_status: Col[CollectionStatus] = status(
        CollectionStatus, default=CollectionStatus.NONE
    )
    book: Col[Book] = status(Book)
    status: Col[InvoiceStatus] = status(InvoiceStatus, default=InvoiceStatus.DRAFT)
    seller_code: Col[str] = col(sa.Text)
    number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    title: Col[str] = col(sa.Text)
    seller: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    recipient: Col[dict[str, Any]] = col(pg.JSONB)
    order_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    currency: Col[str] = col(sa.CHAR(3))
    rate_pct: Col[Decimal | None] = col(
        sa.Numeric, nullable=True, default=None
    )  # null: no VAT is charged
    gross_minor: Col[int] = col(sa.BigInteger)
    net_minor: Col[int] = col(sa.BigInteger)
    vat_minor: Col[int] = col(sa.BigInteger)
    planned_credit_minor: Col[int] = col(
        sa.BigInteger, default=0
    )  # expected credit of a draft, not booked yet
    received_minor: Col[int] = col(sa.BigInteger, default=0)  # money received for this invoice
    credit_applied_minor: Col[int] = col(sa.BigInteger, default=0)
    amount_paid_minor: Col[int] = col(sa.BigInteger, default=0)
    amount_credited_minor: Col[int] = col(sa.BigInteger, default=0)
    amount_due_minor: Col[int] = col(sa.BigInteger)
    issue_date: Col[date | None] = col(sa.Date, nullable=True, default=None)
    supply_date: Col[date | None] = col(sa.Date, nullable=True, default=None)
    due_date: Col[date | None] = col(sa.Date, nullable=True, default=None)
    released_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    issued_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    at_issue: Col[dict[str, int] | None] = col(pg.JSONB, nullable=True, default=None)  # as printed
    pdf: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    next_check_at: Col[datetime | None] = col(
        Instant, nullable=True, default=None
    )  # next revenue or due date


class InvoiceLine(TenantRow, table="billing.invoice_line", kind=Kind.PRIVATE):
    """One line of an invoice. `key` identifies what was billed, so it is billed once (BIL-48)."""

    invoice_id: Col[UUID] = col(pg.UUID)
    position: Col[int] = col(sa.Integer)
    kind: Col[LineKind] = status(LineKind)
    key: Col[str | None] = col(
        sa.Text, nullable=True, default=None
    )  # cleared when a draft is discarded
    description: Col[str] = col(sa.Text)
    quantity: Col[int] = col(sa.BigInteger)
    unit_price: Col[Decimal] = col(sa.Numeric)  # a unit may cost less than a cent
    gross_minor: Col[int] = col(sa.BigInteger)
    service_from: Col[date | None] = col(sa.Date, nullable=True, default=None)
    service_to: Col[date | None] = col(
        sa.Date, nullable=True, default=None
    )  # the first day after the service
    subscription_id: Col[UUID | None] = col(pg.UUID, nullable=True, default=None)
    plan_code: Col[str | None] = col(sa.Text, nullable=True, default=None)
    plan_version: Col[int | None] = col(sa.Integer, nullable=True, default=None)
    net_minor: Col[int | None] = col(
        sa.BigInteger, nullable=True, default=None
    )  # its share, known at the issue
    credited_minor: Col[int] = col(sa.BigInteger, default=0)
    credited_net_minor: Col[int] = col(sa.BigInteger, default=0)
    earned_minor: Col[int] = col(sa.BigInteger, default=0)


class CreditNote(TenantRow, table="billing.credit_note", kind=Kind.PRIVATE):
    """A credit for part or all of an invoice, with its VAT and reason (BIL-27)."""

    account_id: Col[UUID] = col(pg.UUID)
    invoice_id: Col[UUID] = col(pg.UUID)
    book: Col[Book] = status(Book)
    seller_code: Col[str] = col(sa.Text)
    number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    seller: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)
    recipient: Col[dict[str, Any]] = col(pg.JSONB)
    invoice_number: Col[str | None] = col(sa.Text, nullable=True, default=None)
    invoice_date: Col[date | None] = col(sa.Date, nullable=True, default=None)
    reason_code: Col[CreditReason] = status(CreditReason)
    status: Col[CreditNoteStatus] = status(CreditNoteStatus, default=CreditNoteStatus.DRAFT)
    explanation: Col[str] = col(sa.Text)
    currency: Col[str] = col(sa.CHAR(3))
    rate_pct: Col[Decimal | None] = col(sa.Numeric, nullable=True, default=None)
    gross_minor: Col[int] = col(sa.BigInteger)
    net_minor: Col[int] = col(sa.BigInteger)
    vat_minor: Col[int] = col(sa.BigInteger)
    issue_date: Col[date | None] = col(sa.Date, nullable=True, default=None)
    released_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    issued_at: Col[datetime | None] = col(Instant, nullable=True, default=None)
    pdf: Col[dict[str, Any] | None] = col(pg.JSONB, nullable=True, default=None)


class CreditNoteLine(TenantRow, table="billing.credit_note_line", kind=Kind.PRIVATE):
    """The amount credited on one invoice line."""

    credit_note_id: Col[UUID] = col(pg.UUID)
    position: Col[int] = col(sa.Integer)
    invoice_line_id: Col[UUID] = col(pg.UUID)
    description: Col[str] = col(sa.Text)
    gross_minor: Col[int] = col(sa.BigInteger)


class BilledSpan(TenantRow, table="billing.billed_span", kind=Kind.PRIVATE):
    """Days of a subscription that a line pays for, without the end day. No day is billed twice
    (BIL-48)."""

    subscription_id: Col[UUID] = col(pg.UUID)
    line_id: Col[UUID] = col(pg.UUID)
    starts_on: Col[date] = col(sa.Date)
    ends_on: Col[date] = col(sa.Date)


class DocumentPdf(TenantRow, table="billing.document_pdf", kind=Kind.PRIVATE):
    """A PDF, rendered once from the issued document and never changed (BIL-28)."""

    document_id: Col[UUID] = col(pg.UUID)
    edition: Col[Edition] = status(Edition)
    sha256: Col[str] = col(sa.Text)
    content: Col[bytes] = col(sa.LargeBinary, secret=True)  # too large for an audit row
