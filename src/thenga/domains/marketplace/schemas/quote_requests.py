"""Fields, bodies and filters of quote requests."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path
from pydantic import MISSING, BaseModel, Field

from thenga.domains.marketplace.tables.quote_requests import (
    QuotePurpose,
    QuoteRecipient,
    QuoteRequest,
    QuoteRequestStatus,
)
from thenga.domains.marketplace.values import quote_contents
from thenga.domains.marketplace.values.quote_contents import QuoteContentFields
from thenga.domains.marketplace.values.quote_recipients import QuoteRecipientChoice
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.filters import IN_SERVICE, Filters, Where, before
from thenga.kernel.values.fields import Instant, lines, text
from thenga.kernel.values.references import Reference

QuoteRequestId = Annotated[
    UUID, Path(alias="quoteRequestId", description="ID of the quote request.")
]
DueAt = Annotated[
    Instant, Field(description="Time until which suppliers can quote, at least 24 hours ahead.")
]
Recipients = Annotated[
    list[QuoteRecipientChoice],
    Field(min_length=1, max_length=20, description="Suppliers to ask, each once."),
]
Purpose = Annotated[QuotePurpose, Field(description="What the quotes are for.")]
MatchId = Annotated[UUID | None, Field(description="Your own match that the recipients come from.")]
NeedRefs = Annotated[
    list[Reference],
    Field(max_length=50, description="Requirements that the quotes are to meet. Yours alone."),
]
Reason = Annotated[
    Annotated[str, lines(1, 2000)] | None,
    Field(description="Why you cancel. Only your organization reads it."),
]


class NeedFields(BaseModel):
    """Why the customer asks; no recipient reads it."""

    purpose: Purpose = QuotePurpose.OTHER
    match_id: MatchId = None
    need_refs: NeedRefs = []


class CreateQuoteRequest(QuoteContentFields, NeedFields, Body):
    """A quote request, kept as a draft or sent at once."""

    due_at: DueAt
    recipients: Recipients
    correlation_id: Annotated[
        Annotated[str, text(1, 100)] | None,
        Field(
            description="ID that your records of this need share. Defaults to the one of the "
            "match, or else of this request."
        ),
    ] = None
    send: Annotated[bool, Field(description="Whether to send it at once.")] = False


class ChangeQuoteRequest(Body):
    """Fields to update, and at most one move. Once sent, only `dueAt` moves, and only later."""

    title: quote_contents.Title | MISSING = MISSING
    lines: quote_contents.Lines | MISSING = MISSING
    deliver_to: quote_contents.DeliverTo | MISSING = MISSING
    min_validity_days: quote_contents.MinValidityDays | MISSING = MISSING
    terms: quote_contents.Terms | MISSING = MISSING
    document_refs: quote_contents.DocumentRefs | MISSING = MISSING
    purpose: Annotated[QuotePurpose | MISSING, Field(description="What the quotes are for.")] = (
        MISSING
    )
    match_id: MatchId | MISSING = MISSING
    need_refs: NeedRefs | MISSING = MISSING
    due_at: Annotated[
        Instant | MISSING, Field(description="Time until which suppliers can quote.")
    ] = MISSING
    recipients: Recipients | MISSING = MISSING
    move: Annotated[Literal["send", "cancel"] | MISSING, Field(description="Move to make.")] = (
        MISSING
    )
    reason: Reason = None


class QuoteRequestFilters(Filters[QuoteRequest]):
    """What quote requests are listed."""

    side: Annotated[
        Literal["customer", "provider"],
        IN_SERVICE,
        Field(
            description="`customer` lists requests that your organization sent, `provider` those "
            "that it received."
        ),
    ] = "customer"
    status: QuoteRequestStatus | None = None
    purpose: QuotePurpose | None = None
    due_before: Annotated[Instant | None, before(QuoteRequest.due_at)] = None


class ReceivedQuoteRequestFilters(Filters[QuoteRecipient]):
    """The same filters, where a provider lists what it received."""

    status: Annotated[
        QuoteRequestStatus | None, Where(lambda value: QuoteRecipient.request_status == value)
    ] = None
    due_before: Annotated[Instant | None, before(QuoteRecipient.due_at)] = None
