"""Quote requests: written and sent by a customer, moved by time and by the quotes of Supplier."""

from datetime import datetime, timedelta
from uuid import UUID

from pydantic import MISSING

from thenga.domains.marketplace.lifecycles.quote_requests import (
    QuoteRecipientLifecycle,
    QuoteRequestLifecycle,
)
from thenga.domains.marketplace.schemas.quote_requests import (
    ChangeQuoteRequest,
    CreateQuoteRequest,
)
from thenga.domains.marketplace.services import recipients
from thenga.domains.marketplace.services.recipients import Chosen
from thenga.domains.marketplace.tables.matches import Match
from thenga.domains.marketplace.tables.quote_requests import (
    QuoteRecipientStatus,
    QuoteRequest,
    QuoteRequestStatus,
)
from thenga.domains.marketplace.values.quote_contents import check_size
from thenga.domains.marketplace.values.quote_recipients import QuoteRecipientChoice
from thenga.domains.supplier import public as supplier
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import NOT_STORED, merge_patch
from thenga.kernel.db.series import next_number
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import Problem, RuleViolated, extensions
from thenga.kernel.values.calendar import HOME_ZONE

SOONEST = timedelta(hours=24)
_BESIDE = {"move", "reason"}
_OF_SENT = {"due_at"}
_BY_QUOTE = {
    "acknowledged": QuoteRecipientLifecycle.acknowledge,
    "submitted": QuoteRecipientLifecycle.quote,
    "accepted": QuoteRecipientLifecycle.accept,
    "fulfilled": QuoteRecipientLifecycle.accept,
    "declined": QuoteRecipientLifecycle.decline,
    "withdrawn": QuoteRecipientLifecycle.decline,
    "rejected": QuoteRecipientLifecycle.pass_over,
    "cancelled": QuoteRecipientLifecycle.pass_over,
    "expired": QuoteRecipientLifecycle.pass_over,
}

QuoteEvent = supplier.QuoteSubmitted | supplier.QuoteChanged | supplier.QuoteAccepted


class DeadlineShortened(Problem):
    """Suppliers rely on the deadline they were given. Send the same `dueAt`, or a later one."""

    code, status = "marketplace-deadline-shortened", 409
    title = "A deadline only moves later"
    members = extensions(dueAt=(datetime, "Deadline that stands."))


class QuoteMatchUnknown(Problem):
    """`matchId` names no match of your organization. List your matches and use their ids."""

    code, status, title = "marketplace-match-unknown", 422, "Unknown match"


async def create_quote_request(work: Work, given: CreateQuoteRequest) -> QuoteRequest:
    """Keep a quote request as a draft, or send it at once."""
    of_match = await _correlation_of(work, given.match_id)
    chosen = await recipients.choose_recipients(work, given.recipients)
    _check_due(work, given.due_at)
    request = QuoteRequest.of(
        given,
        organization_id=work.organization_id,
        number=f"QR-{await next_number(work, 'quote_request'):04d}",
        time_zone=HOME_ZONE,
        correlation_id=given.correlation_id or of_match or work.origin.correlation_id,
        recipients=_stored(chosen),
        send=NOT_STORED,
    )
    check_size(recipients.content_of(request))
    await work.add(request)
    if given.send:
        await work.hold(request)
        await _send(work, request, chosen)
    return request


async def change_quote_request(
    work: Work, quote_request_id: UUID, given: ChangeQuoteRequest
) -> QuoteRequest:
    """Change a draft, give more time to recipients, send or cancel."""
    request = await work.lock(QuoteRequest, quote_request_id)
    if request.status is QuoteRequestStatus.DRAFT:
        await _change_draft(work, request, given)
    else:
        await _change_sent(work, request, given)
    if given.move == "cancel":
        await _cancel(work, request, given.reason)
    return request


async def end_quote_request(work: Work, quote_request_id: UUID) -> None:
    """At `dueAt` the customer evaluates; without an offer the request has expired (MKT-30)."""
    request = await work.lock(QuoteRequest, quote_request_id)
    if request.next_check_at is None or request.next_check_at > work.now:
        return
    request.next_check_at = None
    QuoteRequestLifecycle.evaluate.make(work, request)
    if not await _has_offer(work, request):
        QuoteRequestLifecycle.expire.make(work, request)
    await work.save(request)
    await _publish_status(work, request)


async def follow_quote(work: Work, event: QuoteEvent, sequence: int) -> None:
    """Move recipient and request as the customer's copy of a quote's event says; newest wins."""
    if event.recipient_id is None or event.customer_organization_id != work.organization_id:
        return
    recipient = await recipients.recipient_of(work, event.recipient_id)
    if recipient is None or recipient.organization_id != work.organization_id:
        return
    request = await work.lock(QuoteRequest, recipient.quote_request_id)
    await work.hold(recipient)
    if sequence <= recipient.quote_sequence:
        return
    recipient.quote_sequence, recipient.quote_id = sequence, event.quote_id
    move = _BY_QUOTE.get(event.status)
    if move is not None and recipient.status in move.sources:
        move.make(work, recipient)
    await work.save(recipient)
    if recipient.status is QuoteRecipientStatus.ACCEPTED:
        await _accept(work, request, event)
    else:
        await _weigh(work, request)


async def _change_draft(work: Work, request: QuoteRequest, given: ChangeQuoteRequest) -> None:
    sends = given.move == "send"
    if given.match_id is not MISSING and given.match_id != request.match_id:
        of_match = await _correlation_of(work, given.match_id)
        request.correlation_id = of_match or request.correlation_id
    chosen: list[Chosen] = []
    if given.recipients is not MISSING:
        chosen = await recipients.choose_recipients(work, given.recipients)
    elif sends:
        chosen = await recipients.choose_recipients(work, _chosen_again(request))
    beside: dict[str, object] = {"move": NOT_STORED, "reason": NOT_STORED}
    if chosen:
        beside["recipients"] = _stored(chosen)
    merge_patch(request, given, **beside)
    check_size(recipients.content_of(request))
    if sends or given.due_at is not MISSING:
        _check_due(work, request.due_at)
    if sends:
        await _send(work, request, chosen)
    else:
        await work.save(request)


async def _change_sent(work: Work, request: QuoteRequest, given: ChangeQuoteRequest) -> None:
    if given.model_fields_set - _BESIDE - _OF_SENT:
        raise not_possible(
            "Recipients have this request. Only `dueAt` can move, or you cancel the request.",
            status=request.status,
            operation="change",
            allowed=QuoteRequestLifecycle.open(request),
        )
    if given.due_at is not MISSING:
        await _extend(work, request, given.due_at)
    if given.move == "send":
        QuoteRequestLifecycle.send.make(work, request)  # a repeat has no effect, or is refused


async def _extend(work: Work, request: QuoteRequest, due_at: datetime) -> None:
    """Give all recipients the same additional time (MKT-28)."""
    if due_at < request.due_at:
        raise DeadlineShortened(dueAt=request.due_at)
    if due_at == request.due_at:
        return
    if request.status is not QuoteRequestStatus.SENT or request.due_at <= work.now:
        raise not_possible(
            "The deadline has passed, or the request has ended.",
            status=request.status,
            operation="extend",
            allowed=QuoteRequestLifecycle.open(request),
        )
    request.due_at = request.next_check_at = due_at
    await work.save(request)
    await _publish_status(work, request, change="extended")


async def _cancel(work: Work, request: QuoteRequest, reason: str | None) -> None:
    if QuoteRequestLifecycle.cancel.make(work, request, text=reason):
        request.next_check_at = None
        await work.save(request)
        await _publish_status(work, request)


async def _send(work: Work, request: QuoteRequest, chosen: list[Chosen]) -> None:
    QuoteRequestLifecycle.send.make(work, request)
    request.revision, request.sent_at = 1, work.now
    content = recipients.content_of(request)
    request.content_hash = content.sha256
    request.next_check_at = request.due_at
    await work.save(request)
    await recipients.invite(work, request, content, chosen)


async def _accept(work: Work, request: QuoteRequest, event: QuoteEvent) -> None:
    """Accepting is done in Supplier; the others are not selected (MKT-30)."""
    if request.status not in QuoteRequestLifecycle.accept.sources:
        return
    QuoteRequestLifecycle.accept.make(work, request)
    request.accepted_quote_id, request.accepted_revision = event.quote_id, event.revision
    request.next_check_at = None
    await work.save(request)
    await _publish_status(work, request)


async def _weigh(work: Work, request: QuoteRequest) -> None:
    """Behind the deadline: expired without an offer, evaluated with one that was heard late."""
    if request.status not in (QuoteRequestStatus.EVALUATING, QuoteRequestStatus.EXPIRED):
        return
    move = QuoteRequestLifecycle.expire
    if await _has_offer(work, request):
        move = QuoteRequestLifecycle.reopen
    if request.status is not move.to:
        move.make(work, request)
        await work.save(request)
        await _publish_status(work, request)


async def _publish_status(work: Work, request: QuoteRequest, *, change: str | None = None) -> None:
    """Write status and deadline of the request down for each recipient, and publish them."""
    for recipient in await recipients.recipients_of(work, request.id):
        await work.hold(recipient)
        recipient.request_status, recipient.due_at = request.status, request.due_at
        is_over = request.status is QuoteRequestStatus.ACCEPTED
        if is_over and recipient.status in QuoteRecipientLifecycle.pass_over.sources:
            QuoteRecipientLifecycle.pass_over.make(work, recipient)
        await work.save(recipient)
        recipients.publish_change(work, recipient, request.title, change or request.status.value)


async def _correlation_of(read: Reader, match_id: UUID | None) -> str | None:
    """The correlation of an own match, so that what is asked belongs to the same need."""
    if match_id is None:
        return None
    match = await read.find(Match, id=match_id)
    if match is None:
        raise QuoteMatchUnknown()
    return match.correlation_id


async def _has_offer(work: Work, request: QuoteRequest) -> bool:
    invited = await recipients.recipients_of(work, request.id)
    return any(recipient.status is QuoteRecipientStatus.QUOTED for recipient in invited)


def _check_due(work: Work, due_at: datetime) -> None:
    if due_at < work.now + SOONEST:
        raise RuleViolated(
            "Give suppliers at least 24 hours.",
            rule="MKT-28",
            field="/dueAt",
        )


def _chosen_again(request: QuoteRequest) -> list[QuoteRecipientChoice]:
    """The stored choices as they were sent: by listing, or by supplier."""
    return [
        choice.model_copy(update={"supplier_id": None}) if choice.listing_id else choice
        for choice in request.recipients
    ]


def _stored(chosen: list[Chosen]) -> list[QuoteRecipientChoice]:
    return [
        QuoteRecipientChoice(
            listing_id=recipient.listing_id,
            supplier_id=recipient.supplier_id,
            override_reason=recipient.override_reason,
        )
        for recipient in chosen
    ]
