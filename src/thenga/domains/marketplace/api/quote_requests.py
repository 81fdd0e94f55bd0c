"""Quote requests, for the customer that sends them and for each supplier that receives one."""

from collections.abc import Sequence
from copy import copy
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field

from thenga.domains.marketplace.lifecycles.quote_requests import QuoteRequestLifecycle
from thenga.domains.marketplace.permissions import Permission
from thenga.domains.marketplace.schemas.quote_requests import (
    ChangeQuoteRequest,
    CreateQuoteRequest,
    NeedRefs,
    QuoteRequestFilters,
    QuoteRequestId,
    ReceivedQuoteRequestFilters,
)
from thenga.domains.marketplace.services import quote_requests, recipients
from thenga.domains.marketplace.services.quote_requests import DeadlineShortened, QuoteMatchUnknown
from thenga.domains.marketplace.services.recipients import RecipientUnavailable
from thenga.domains.marketplace.tables.quote_requests import (
    QuotePurpose,
    QuoteRecipient,
    QuoteRecipientStatus,
    QuoteRequest,
    QuoteRequestStatus,
)
from thenga.domains.marketplace.values.quote_contents import QuoteContentFields
from thenga.domains.organization.public import Card, Profiles
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, NotFound, RuleViolated
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.filters import filtered
from thenga.kernel.http.lists import paged
from thenga.kernel.http.moved import Moved
from thenga.kernel.http.reference import problems
from thenga.kernel.ports.asking import asking
from thenga.kernel.values.fields import Instant

router = make_router("Marketplace / Quote requests")
_NOT_LISTED = (
    QuoteRequest.lines,
    QuoteRequest.deliver_to,
    QuoteRequest.terms,
    QuoteRequest.document_refs,
    QuoteRequest.recipients,
    QuoteRequest.need_refs,
)


class QuoteRequestView(Moved, lifecycle=QuoteRequestLifecycle):
    """A quote request, as the customer or as one recipient reads it."""

    side: Annotated[
        Literal["customer", "provider"],
        Field(description="Whether your organization sent it, or received it."),
    ]
    customer_organization_id: Annotated[UUID, Field(description="Organization that asks.")]
    number: Annotated[
        str | None, Field(description="Number that the customer gave it. Null for recipients.")
    ]
    title: Annotated[str, Field(description="What is needed, in one line.")]
    revision: Annotated[int, Field(description="Revision of the content. 0 until it is sent.")]
    content_hash: Annotated[str | None, Field(description="SHA-256 of the content as it was sent.")]
    due_at: Annotated[Instant, Field(description="Time until which suppliers can quote.")]
    time_zone: Annotated[str, Field(description="Time zone in which the customer reads it.")]
    purpose: Annotated[
        QuotePurpose | None, Field(description="What the quotes are for. Null for recipients.")
    ]
    status: Annotated[QuoteRequestStatus, Field(description="Status of the request.")]
    recipient_id: Annotated[
        UUID | None, Field(description="Your own copy, as a recipient. Null for the customer.")
    ]
    recipient_status: Annotated[
        QuoteRecipientStatus | None,
        Field(description="How far you are, as a recipient. Null for the customer."),
    ]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/marketplace/quote-requests/{self.id}"

    @classmethod
    def of_customer(cls, request: QuoteRequest, read: Reader, **more: Any) -> Self:
        """At `dueAt` the customer evaluates, before the job writes that down."""
        shown = copy(request)
        if shown.status is QuoteRequestStatus.SENT and shown.due_at <= read.now:
            shown.status = QuoteRequestStatus.EVALUATING
        more |= {"side": "customer", "customer_organization_id": request.organization_id}
        return cls.of(shown, read, recipient_id=None, recipient_status=None, **more)

    @classmethod
    def received(cls, recipient: QuoteRecipient, titles: dict[UUID, str]) -> Self:
        """As a recipient lists it, without the content."""
        return cls.of_recipient(recipient, title=titles[recipient.id])

    @classmethod
    def of_recipient(cls, recipient: QuoteRecipient, **more: Any) -> Self:
        """From the row between the two alone, so that nothing else of the request is shown."""
        return cls.shown(
            {
                **recipient.__dict__,
                "id": recipient.quote_request_id,
                "side": "provider",
                "customer_organization_id": recipient.organization_id,
                "number": None,
                "purpose": None,
                "status": recipient.request_status,
                "recipient_id": recipient.id,
                "recipient_status": recipient.status,
                "allowed_moves": [],
                **more,
            }
        )


class QuoteRecipientView(View):
    """One supplier that the customer asks."""

    id: Annotated[UUID | None, Field(description="Unique identifier. Null until it is sent.")]
    supplier_id: Annotated[UUID, Field(description="Supplier that is asked.")]
    listing_id: Annotated[UUID | None, Field(description="Listing that it was found by.")]
    provider_organization_id: Annotated[
        UUID | None,
        Field(description="Its organization. Null without an account here: it is not contacted."),
    ]
    override_reason: Annotated[
        str | None, Field(description="Why it was asked although it is blocked.")
    ]
    status: Annotated[
        QuoteRecipientStatus | None, Field(description="How far it is. Null until it is sent.")
    ]
    quote_id: Annotated[UUID | None, Field(description="Its quote. Read it in Supplier.")]


class QuoteAcceptanceView(View):
    """The offer that the customer accepted in Supplier."""

    quote_id: Annotated[UUID, Field(description="Accepted quote.")]
    revision: Annotated[int | None, Field(description="Accepted revision of the quote.")]
    kind: Annotated[Literal["firm"], Field(description="Kind of acceptance.")] = "firm"


class QuoteRequestDetails(QuoteContentFields, QuoteRequestView):
    """A quote request with its content; only the customer reads need, recipients and offers."""

    customer_name: Annotated[
        str | None, Field(description="Name of the customer. Null while its profile is silent.")
    ]
    match_id: Annotated[
        UUID | None, Field(description="Match that the recipients come from. Null for recipients.")
    ]
    need_refs: NeedRefs
    correlation_id: Annotated[
        str | None,
        Field(description="ID that the customer's records of this need share. Else null."),
    ]
    recipients: Annotated[
        list[QuoteRecipientView], Field(description="Suppliers that are asked. Customer only.")
    ]
    acceptance: Annotated[
        QuoteAcceptanceView | None, Field(description="Accepted offer. Null for recipients.")
    ]


async def _customer_name(read: Reader, organization_id: UUID) -> str | None:
    """Who asks, as its profile says now."""
    asked = [organization_id]
    cards: list[Card] = await asking(
        read, Profiles, lambda port: port.cards(organization_ids=asked), silent=[]
    )
    return cards[0].display_name if cards else None


async def _details(read: Reader, request: QuoteRequest, name: str | None) -> QuoteRequestDetails:
    invited = await recipients.recipients_of(read, request.id)
    acceptance = None
    if request.accepted_quote_id is not None:
        acceptance = QuoteAcceptanceView(
            quote_id=request.accepted_quote_id, revision=request.accepted_revision
        )
    return QuoteRequestDetails.of_customer(
        request,
        read,
        customer_name=name,
        recipients=_recipients(request, invited),
        acceptance=acceptance,
    )


def _recipients(
    request: QuoteRequest, invited: Sequence[QuoteRecipient]
) -> list[QuoteRecipientView]:
    """The recipients as the customer chose them, with how far each is once it was sent."""
    sent = {recipient.supplier_id: recipient for recipient in invited}
    views = []
    for choice in request.recipients:
        row = None if choice.supplier_id is None else sent.get(choice.supplier_id)
        views.append(
            QuoteRecipientView.shown(
                {
                    **choice.__dict__,
                    "id": None if row is None else row.id,
                    "provider_organization_id": None if row is None else row.counterparty_id,
                    "status": None if row is None else row.status,
                    "quote_id": None if row is None else row.quote_id,
                }
            )
        )
    return views


@router.post(
    "/marketplace/quote-requests",
    status_code=201,
    responses=problems(QuoteMatchUnknown, RecipientUnavailable, RuleViolated),
)
async def create_quote_request(
    body: CreateQuoteRequest, work: Annotated[Work, writes(Permission.QUOTE_REQUEST_CREATE)]
) -> QuoteRequestDetails:
    """Ask up to 20 suppliers for a quote, as a draft or at once.

    Each recipient reads the content and the deadline, never the others, the match or the need. If
    one of them cannot be asked, nothing is created.

    Suppliers without an account here are recorded but not contacted: send them the request
    yourself. Quotes cannot be submitted here yet, so agree with suppliers how they send theirs.
    """
    name = await _customer_name(work, work.organization_id)
    return await _details(work, await quote_requests.create_quote_request(work, body), name)


@router.get("/marketplace/quote-requests")
async def list_quote_requests(
    read: Annotated[Reader, reads(Permission.QUOTE_REQUEST_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    filters: Annotated[QuoteRequestFilters, filtered()],
) -> PageOf[QuoteRequestView]:
    """List the quote requests that your organization sent, or those that it received.

    Without `side`, only those that your organization sent are listed. To read those that it
    received as a supplier, send `side=provider`.
    """
    if filters.side == "customer":
        sent = await read.page(filters.select(), page, without=_NOT_LISTED)
        return PageOf.of(sent, QuoteRequestView.of_customer, read)
    received = ReceivedQuoteRequestFilters(status=filters.status, due_before=filters.due_before)
    theirs = received.select().where(QuoteRecipient.counterparty_id == read.organization_id)
    found = await read.page(theirs, page, without=[QuoteRecipient.content])
    titles = await recipients.titles_of(read, found.items)
    return PageOf.of(found, QuoteRequestView.received, titles)


@router.get("/marketplace/quote-requests/{quoteRequestId}")
async def get_quote_request(
    quote_request_id: QuoteRequestId,
    read: Annotated[Reader, reads(Permission.QUOTE_REQUEST_READ)],
) -> QuoteRequestDetails:
    """Get a quote request: all of it as the customer, your own copy as a recipient."""
    request = await read.find(QuoteRequest, id=quote_request_id)
    if request is not None:
        return await _details(read, request, await _customer_name(read, request.organization_id))
    recipient = await recipients.received_by(read, quote_request_id)
    if recipient is not None:
        return QuoteRequestDetails.of_recipient(
            recipient,
            **recipient.content.__dict__,
            customer_name=await _customer_name(read, recipient.organization_id),
            match_id=None,
            need_refs=[],
            correlation_id=None,
            recipients=[],
            acceptance=None,
        )
    raise NotFound()


@router.patch(
    "/marketplace/quote-requests/{quoteRequestId}",
    responses=problems(
        QuoteMatchUnknown, RecipientUnavailable, DeadlineShortened, InvalidTransition, RuleViolated
    ),
)
async def change_quote_request(
    quote_request_id: QuoteRequestId,
    body: ChangeQuoteRequest,
    work: Annotated[Work, writes(Permission.QUOTE_REQUEST_UPDATE, if_match=True)],
) -> QuoteRequestDetails:
    """Change a draft, send it, give recipients more time, or cancel.

    After it is sent, the content stays as it is and the deadline only moves later.
    """
    name = await _customer_name(work, work.organization_id)
    request = await quote_requests.change_quote_request(work, quote_request_id, body)
    return await _details(work, request, name)
