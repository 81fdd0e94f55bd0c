"""Quote requests, support requests and displays, made by the services; quotes as published."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from tests.factories import supplier as suppliers
from thenga.domains.marketplace.reactions import reactions
from thenga.domains.marketplace.schemas.displays import RecordDisplay
from thenga.domains.marketplace.schemas.quote_requests import CreateQuoteRequest
from thenga.domains.marketplace.schemas.support_requests import OpenSupportRequest
from thenga.domains.marketplace.services import displays, support_requests
from thenga.domains.marketplace.tables.listings import (
    Listing,
    ListingKind,
    ListingStatus,
    ListingVersion,
    ListingVersionStatus,
    LiveListing,
    Visibility,
)
from thenga.domains.marketplace.tables.quote_requests import QuoteRecipient, QuoteRequest
from thenga.domains.marketplace.tables.support import RecommendationDisplay, SupportRequest
from thenga.domains.marketplace.values.areas import Areas
from thenga.domains.marketplace.values.decisions import Decision, DecisionKind, ReasonCode
from thenga.domains.marketplace.values.listing_content import ListingContent
from thenga.domains.supplier import public as supplier
from thenga.domains.supplier.tables import Supplier
from thenga.kernel.access.actors import OPERATOR, SYSTEM, Actor, ActorKind, Scope
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.rows import NOT_STORED
from thenga.kernel.db.series import next_number
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope, Event
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import HOME_ZONE
from thenga.kernel.values.ids import new_id

ASKED: dict[str, Any] = {
    "title": "Concrete pipes for the Tembisa stormwater upgrade",
    "lines": [
        {
            "key": "1",
            "description": "Concrete pipe 600 mm, class 100D, 2.44 m",
            "unit": "each",
            "quantity": "120",
            "needBy": "2027-02-15",
        },
        {
            "key": "2",
            "description": "Delivery to site and offloading",
            "unit": "load",
            "quantity": "8",
        },
    ],
    "deliverTo": {"province": "GP", "municipalityCode": "EKU"},
    "minValidityDays": 60,
    "terms": "Payment 30 days after the invoice. Prices exclude VAT.",
}
LISTED: dict[str, Any] = {
    "domain": "marketplace",
    "type": "listing",
    "id": "019a0000-0000-7000-8000-0000000115ed",
}
SHOWN: dict[str, Any] = {
    "surface": "search",
    "items": [
        {
            "listingId": LISTED["id"],
            "position": 1,
            "reasonCodes": ["text", "verification"],
            "sourceRef": {
                "domain": "marketplace",
                "type": "search",
                "id": "019a0000-0000-7000-8000-00000005ea7c",
            },
        }
    ],
    "signals": [
        {
            "code": "cidb_status",
            "value": "Active, 6GB",
            "source": {
                "name": "CIDB Register of Contractors",
                "reference": "https://registers.cidb.example/contractors/10123456",
                "retrievedAt": "2026-11-12T07:15:00Z",
            },
        }
    ],
}


def working(host: Host, organization_id: UUID, user_id: UUID | None = None) -> Work:
    origin = Origin(action="factory", request_id="factory", correlation_id="factory")
    actor = SYSTEM if user_id is None else Actor(kind=ActorKind.USER, id=user_id)
    return Work(host, "marketplace", Scope(actor=actor, organization_id=organization_id), origin)


async def provider(host: Host, organization_id: UUID) -> Supplier:
    """The own supplier of a company."""
    return await suppliers.supplier(host, organization_id, kind="own", name=None)


def asking(*supplier_ids: UUID, **body: Any) -> dict[str, Any]:
    """The body of a quote request to these suppliers, with a fortnight to quote."""
    chosen = [{"supplierId": str(supplier_id)} for supplier_id in supplier_ids]
    return ASKED | {"recipients": chosen, "purpose": "bid"} | body


async def draft(host: Host, organization_id: UUID, supplier_id: UUID) -> QuoteRequest:
    """A draft of a company to one supplier, as a row: walks have no port to ask Supplier by."""
    work = working(host, organization_id)
    due_at = (work.now + timedelta(days=14)).isoformat().replace("+00:00", "Z")
    given = CreateQuoteRequest.model_validate_json(json.dumps(asking(supplier_id, dueAt=due_at)))
    request = QuoteRequest.of(
        given,
        organization_id=organization_id,
        number=f"QR-{await next_number(work, 'quote_request'):04d}",
        time_zone=HOME_ZONE,
        correlation_id=work.origin.correlation_id,
        send=NOT_STORED,
    )
    await work.add(request)
    await work.finish()
    return request


async def recipients(host: Host, request_id: UUID, organization_id: UUID) -> list[QuoteRecipient]:
    """The recipients of a request as its customer reads them, or a provider its own."""
    work = working(host, organization_id)
    of_request = QuoteRecipient.quote_request_id == request_id
    found = await work.all(select(QuoteRecipient).where(of_request).order_by(QuoteRecipient.id))
    await work.close()
    return found


async def live_listing(host: Host, organization_id: UUID, supplier_id: UUID) -> LiveListing:
    """A listing as everybody reads it."""
    work = working(host, organization_id)
    made = await work.add(
        LiveListing(
            organization_id=organization_id,
            supplier_id=supplier_id,
            kind=ListingKind.PRODUCT,
            visibility=Visibility.TENANTS,
            live_version=1,
            content=content(),
            content_hash="0" * 64,
            published_at=work.now,
        )
    )
    await work.finish()
    return made


def content() -> ListingContent:
    return ListingContent(
        title="Concrete pipes up to 900 mm",
        summary="Made to SANS 677 and delivered to site.",
        category_ids=[suppliers.CATEGORY],
        areas=Areas(national=True),
    )


async def decided_listing(host: Host, organization_id: UUID, moderator: UUID) -> Listing:
    """A listing of a company that a moderator rejected."""
    work = working(host, organization_id)
    decision = Decision(
        decision=DecisionKind.REJECT,
        version_number=1,
        reason_codes=[ReasonCode.MISLEADING],
        text="The description is of another product.",
        at=work.now,
    )
    listing = await work.add(
        Listing(
            organization_id=organization_id,
            counterparty_id=OPERATOR,
            supplier_id=new_id(),
            kind=ListingKind.PRODUCT,
            title_key=None,
            live_version=None,
            open_version=None,
            newest_version=1,
            pending_since=None,
            decision=decision,
            decided_by=moderator,
            status=ListingStatus.REJECTED,
        )
    )
    await work.add(
        ListingVersion(
            organization_id=organization_id,
            counterparty_id=OPERATOR,
            listing_id=listing.id,
            number=1,
            content=content(),
            content_hash="0" * 64,
            decision=decision,
            decided_by=moderator,
            decided_at=work.now,
            status=ListingVersionStatus.DECLINED,
        )
    )
    await work.finish()
    return listing


async def support_request(host: Host, organization_id: UUID, user_id: UUID) -> SupportRequest:
    """An appeal of a company against a moderator's decision."""
    listing = await decided_listing(host, organization_id, new_id())
    work = working(host, organization_id, user_id)
    work.held_as = HeldAs.TENANT
    given = OpenSupportRequest.model_validate(
        {
            "kind": "appeal_moderation",
            "about": LISTED | {"id": str(listing.id)},
            "text": "The description is of our own product.",
        }
    )
    made = await support_requests.open_support_request(work, given)
    await work.finish()
    return made


async def display(host: Host, organization_id: UUID) -> RecommendationDisplay:
    """What somebody of a company was shown."""
    work = working(host, organization_id)
    given = RecordDisplay.model_validate_json(json.dumps(SHOWN))
    made = await displays.record_display(work, given)
    await work.finish()
    return made


async def hear(host: Host, organization_id: UUID, event: Event, *, sequence: int = 1) -> None:
    """React to an event of another domain, as the consumer would."""
    work = working(host, organization_id)
    work.envelope = Envelope(
        id=new_id(),
        type=event.type,
        source=f"/{event.domain()}",
        subject=event.aggregate,
        time=work.now,
        organizationid=organization_id,
        sequence=sequence,
        data=event.model_dump(mode="json", by_alias=True),
    )
    for reaction in reactions.all:
        if reaction.event_type == event.type:
            await reaction.handle(work, work.envelope)
    await work.finish()


_OF_STATUS: dict[str, type[supplier.QuoteSubmitted | supplier.QuoteChanged]] = {
    "submitted": supplier.QuoteSubmitted,
}


def quoted(
    recipient: QuoteRecipient, status: str, *, quote_id: UUID, revision: int | None = 1
) -> supplier.QuoteSubmitted | supplier.QuoteChanged | supplier.QuoteAccepted:
    """What Supplier publishes of the quote of a recipient."""
    kind: Any = supplier.QuoteAccepted if status == "accepted" else _OF_STATUS.get(status)
    made: supplier.QuoteChanged = (kind or supplier.QuoteChanged)(
        quote_id=quote_id,
        supplier_id=recipient.supplier_id,
        customer_organization_id=recipient.organization_id,
        supplier_organization_id=recipient.counterparty_id,
        quote_request_id=recipient.quote_request_id,
        recipient_id=recipient.id,
        status=status,
        revision=revision,
        revision_hash="1" * 64,
        label=recipient.content.title,
        due_at=recipient.due_at,
        time_zone=recipient.time_zone,
    )
    return made
