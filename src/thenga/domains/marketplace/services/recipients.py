"""Whom a quote request goes to, what each recipient gets, and how far each is."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select

from thenga.domains.marketplace import public
from thenga.domains.marketplace.services.tenants import in_sandbox
from thenga.domains.marketplace.tables.listings import LiveListing
from thenga.domains.marketplace.tables.quote_requests import QuoteRecipient, QuoteRequest
from thenga.domains.marketplace.values.quote_contents import QuoteContent, QuoteContentFields
from thenga.domains.marketplace.values.quote_recipients import QuoteRecipientChoice
from thenga.domains.supplier.public import SupplierCard, Suppliers, Trust, TrustView
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.errors import ERRORS, FieldError, Problem, extensions
from thenga.kernel.ports.asking import asking

BLOCKS = "block_rfq"
_DETAILS = {
    "unavailable": "This supplier is not here, or takes no quote requests.",
    "self_recipient": "Your organization cannot ask itself for a quote.",
    "provider_blocked": "This supplier is blocked. Say in `overrideReason` why you ask it.",
    "duplicate": "This supplier is asked already.",
    "ambiguous": "Send either `listingId` or `supplierId`.",
}


class RecipientUnavailable(Problem):
    """At least one recipient cannot be asked, so nothing was sent.

    `errors` names each of them with its code: `unavailable`, `self_recipient`, `provider_blocked`,
    `duplicate` or `ambiguous`. Change or remove these recipients.
    """

    code, status = "marketplace-recipient-unavailable", 422
    title = "Some recipients cannot be asked for a quote"
    members = extensions(errors=ERRORS)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A recipient that can be asked, and the company that it is if it has an account here."""

    listing_id: UUID | None
    supplier_id: UUID
    provider_organization_id: UUID | None
    override_reason: str | None


async def choose_recipients(work: Work, choices: Sequence[QuoteRecipientChoice]) -> list[Chosen]:
    """Whom these choices name; one that cannot be asked refuses all (MKT-26)."""
    listed = await _suppliers_of_listings(work, choices)
    named = [
        listed.get(choice.listing_id) if choice.listing_id else choice.supplier_id
        for choice in choices
    ]
    ids = list(dict.fromkeys(supplier_id for supplier_id in named if supplier_id))
    cards = await work.port(Suppliers).describe(
        organization_id=work.organization_id, supplier_ids=ids
    )
    apart = await _on_the_other_side(work, cards)
    known = {card.supplier_id: card for card in cards if card.supplier_id not in apart}
    blocked = await _blocked(work, ids)
    chosen: list[Chosen] = []
    errors: list[FieldError] = []
    for index, (choice, supplier_id) in enumerate(zip(choices, named, strict=True)):
        card = None if supplier_id is None else known.get(supplier_id)
        earlier = {recipient.supplier_id for recipient in chosen}
        code = _fault(choice, card, work.organization_id, blocked, earlier)
        if code is not None or card is None:
            code = code or "unavailable"
            pointer = f"/recipients/{index}"
            errors.append(FieldError(pointer=pointer, code=code, detail=_DETAILS[code]))
            continue
        chosen.append(
            Chosen(
                choice.listing_id, card.supplier_id, card.organization_id, choice.override_reason
            )
        )
    if errors:
        raise RecipientUnavailable(errors=errors)
    return chosen


async def invite(
    work: Work, request: QuoteRequest, content: QuoteContent, chosen: Sequence[Chosen]
) -> None:
    """Give each recipient the content, and publish that to both parties."""
    for recipient in chosen:
        invited = await work.add(
            QuoteRecipient(
                organization_id=request.organization_id,
                counterparty_id=recipient.provider_organization_id,
                quote_request_id=request.id,
                supplier_id=recipient.supplier_id,
                listing_id=recipient.listing_id,
                revision=request.revision,
                content=content,
                content_hash=content.sha256,
                due_at=request.due_at,
                time_zone=request.time_zone,
                quote_id=None,
                request_status=request.status,
            )
        )
        event = public.QuoteRequested.of(invited, **_named(invited, content.title))
        _publish_to_both(work, invited, event)


def publish_change(work: Work, recipient: QuoteRecipient, title: str, change: str) -> None:
    """Publish to both parties what happened to the request of a recipient."""
    event = public.QuoteRequestChanged.of(
        recipient, status=recipient.request_status, change=change, **_named(recipient, title)
    )
    _publish_to_both(work, recipient, event)


async def recipients_of(read: Reader, quote_request_id: UUID) -> list[QuoteRecipient]:
    """How far each recipient of a request is, without the content, which all have alike."""
    of_request = QuoteRecipient.quote_request_id == quote_request_id
    found = select(QuoteRecipient).where(of_request).order_by(QuoteRecipient.id)
    return await read.all(found, without=[QuoteRecipient.content])


async def received_by(read: Reader, quote_request_id: UUID) -> QuoteRecipient | None:
    """The copy of a request, with its content, that the reader's organization received."""
    found = await read.all(
        select(QuoteRecipient)
        .where(QuoteRecipient.quote_request_id == quote_request_id)
        .where(QuoteRecipient.counterparty_id == read.organization_id)
        .order_by(QuoteRecipient.id),
        limit=1,
    )
    return found[0] if found else None


async def recipient_of(read: Reader, recipient_id: UUID) -> QuoteRecipient | None:
    """One recipient without the content."""
    found = await read.all(
        select(QuoteRecipient).where(QuoteRecipient.id == recipient_id),
        without=[QuoteRecipient.content],
    )
    return found[0] if found else None


async def titles_of(read: Reader, listed: Sequence[QuoteRecipient]) -> dict[UUID, str]:
    """The title of each copy; the database takes it out of the content."""
    title = func.jsonb_extract_path_text(QuoteRecipient.content, "title").label("title")
    of_these = among(QuoteRecipient.id, [recipient.id for recipient in listed])
    found = await read.records(select(QuoteRecipient.id, title).where(of_these))
    return {record["id"]: record["title"] for record in found}


def content_of(request: QuoteRequest) -> QuoteContent:
    """The content of a request as each recipient reads it."""
    names = QuoteContentFields.model_fields
    return QuoteContent.model_validate({name: getattr(request, name) for name in names})


async def describe_quote_requests(
    read: Reader, quote_request_ids: Sequence[UUID]
) -> list[public.QuoteRequestView]:
    """What was asked of whom, as the organization that asks may read it."""
    ids = list(dict.fromkeys(quote_request_ids))
    of_these = among(QuoteRecipient.quote_request_id, ids)
    found = await read.all(
        select(QuoteRecipient).where(of_these).order_by(QuoteRecipient.id), limit=1000
    )
    return [
        public.QuoteRequestView(
            quote_request_id=recipient.quote_request_id,
            recipient_id=recipient.id,
            supplier_id=recipient.supplier_id,
            customer_organization_id=recipient.organization_id,
            provider_organization_id=recipient.counterparty_id,
            status=recipient.request_status,
            revision=recipient.revision,
            content_hash=recipient.content_hash,
            due_at=recipient.due_at,
            time_zone=recipient.time_zone,
            **{name: getattr(recipient.content, name) for name in QuoteContentFields.model_fields},
        )
        for recipient in found
    ]


def _fault(
    choice: QuoteRecipientChoice,
    card: SupplierCard | None,
    organization_id: UUID,
    blocked: set[UUID],
    earlier: set[UUID],
) -> str | None:
    if (choice.listing_id is None) == (choice.supplier_id is None):
        return "ambiguous"
    if card is None or card.status != "active" or not card.accepts_quote_requests:
        return "unavailable"
    if card.organization_id == organization_id:
        return "self_recipient"
    if card.supplier_id in earlier:
        return "duplicate"
    is_refused = card.supplier_id in blocked and not choice.override_reason
    return "provider_blocked" if is_refused else None


async def _suppliers_of_listings(
    read: Reader, choices: Sequence[QuoteRecipientChoice]
) -> dict[UUID, UUID]:
    ids = [choice.listing_id for choice in choices if choice.listing_id is not None]
    if not ids:
        return {}
    reached = LiveListing.sandbox.is_(await in_sandbox(read))
    found = await read.all(select(LiveListing).where(among(LiveListing.id, ids), reached))
    return {listing.id: listing.supplier_id for listing in found}


async def _on_the_other_side(read: Reader, cards: Sequence[SupplierCard]) -> set[UUID]:
    """Companies that a sandbox or a live customer cannot ask, because they are of the other kind.

    A sandbox asks those that offer something as sandboxes, and its own external suppliers.
    """
    ids = [card.supplier_id for card in cards if card.organization_id is not None]
    named = among(LiveListing.supplier_id, ids)
    offered = select(LiveListing.supplier_id).where(named, LiveListing.sandbox.is_(True))
    sandboxes = set(await read.values(offered)) if ids else set()
    is_sandbox = await in_sandbox(read)
    return {supplier_id for supplier_id in ids if (supplier_id in sandboxes) is not is_sandbox}


async def _blocked(read: Reader, supplier_ids: list[UUID]) -> set[UUID]:
    """Suppliers that are asked only with a reason; nobody is where trust does not answer."""
    views: list[TrustView] = await asking(
        read, Trust, lambda port: port.describe(supplier_ids=supplier_ids), silent=[]
    )
    return {view.supplier_id for view in views if BLOCKS in view.effects}


def _named(recipient: QuoteRecipient, title: str) -> dict[str, object]:
    return {
        "recipient_id": recipient.id,
        "customer_organization_id": recipient.organization_id,
        "provider_organization_id": recipient.counterparty_id,
        "label": title,
    }


def _publish_to_both(
    work: Work,
    recipient: QuoteRecipient,
    event: public.QuoteRequested | public.QuoteRequestChanged,
) -> None:
    """A supplier without an account here has no copy."""
    work.publish(event)
    if recipient.counterparty_id is not None:
        work.publish(event, to=recipient.counterparty_id)
