"""Quote requests of a customer, and what each recipient reads of them."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from thenga.domains.marketplace.public import DeliveryPlace, QuoteRequestLine
from thenga.domains.marketplace.values.quote_contents import QuoteContent
from thenga.domains.marketplace.values.quote_recipients import QuoteRecipientChoice
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.rows import BetweenRow, Col, Explained, TenantRow, col
from thenga.kernel.values.references import Reference


class QuotePurpose(StrEnum):
    """Purpose of a quote request."""

    BID = "bid"
    CONTRACT = "contract"
    ORDER = "order"
    OTHER = "other"


class QuoteRequestStatus(StrEnum):
    """Status of a quote request."""

    DRAFT = "draft"
    SENT = "sent"
    EVALUATING = "evaluating"
    ACCEPTED = "accepted"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class QuoteRecipientStatus(StrEnum):
    """How far one recipient is."""

    INVITED = "invited"
    QUOTING = "quoting"
    QUOTED = "quoted"
    ACCEPTED = "accepted"
    NOT_SELECTED = "not_selected"
    DECLINED = "declined"


class QuoteRequest(
    TenantRow,
    Explained,
    table="marketplace.quote_request",
    kind=Kind.PRIVATE,
    unique=[("organization_id", "number")],
    due=True,
):
    """What a customer asks several suppliers; the need, the tender and the choice stay here."""

    number: Col[str]
    title: Col[str]
    lines: Col[list[QuoteRequestLine]]
    deliver_to: Col[DeliveryPlace | None]
    currency: Col[str]
    min_validity_days: Col[int]
    terms: Col[str | None]
    document_refs: Col[list[Reference]]
    due_at: Col[datetime]
    time_zone: Col[str]
    recipients: Col[list[QuoteRecipientChoice]]
    purpose: Col[QuotePurpose]
    match_id: Col[UUID | None]
    need_refs: Col[list[Reference]]
    correlation_id: Col[str]
    revision: Col[int] = col(default=0)  # 0 until it is sent
    content_hash: Col[str | None]
    sent_at: Col[datetime | None]
    accepted_quote_id: Col[UUID | None]
    accepted_revision: Col[int | None]
    next_check_at: Col[datetime | None]
    status: Col[QuoteRequestStatus] = col(default=QuoteRequestStatus.DRAFT)


class QuoteRecipient(
    BetweenRow,
    table="marketplace.quote_recipient",
    kind=Kind.BETWEEN,
    unique=[("organization_id", "quote_request_id", "supplier_id")],
    indexes=[("counterparty_id", "quote_request_id")],
    references=[
        (
            ("organization_id", "quote_request_id"),
            "marketplace.quote_request",
            ("organization_id", "id"),
        )
    ],
):
    """One supplier that was asked: the provider reads this row, and nothing else of the request.

    A supplier without an account here has no counterparty. `quote_sequence` is the newest version
    of the quote that this row follows (MKT-30).
    """

    quote_request_id: Col[UUID]
    supplier_id: Col[UUID]
    listing_id: Col[UUID | None]
    revision: Col[int]
    content: Col[QuoteContent]
    content_hash: Col[str]
    due_at: Col[datetime]
    time_zone: Col[str]
    quote_id: Col[UUID | None]
    quote_sequence: Col[int] = col(default=0)
    request_status: Col[QuoteRequestStatus]
    status: Col[QuoteRecipientStatus] = col(default=QuoteRecipientStatus.INVITED)
