"""Support requests: reports, appeals and problems that the operator resolves."""

from uuid import UUID

import asyncpg
from sqlalchemy import select

from thenga.domains.marketplace import public
from thenga.domains.marketplace.lifecycles.support import SupportRequestLifecycle
from thenga.domains.marketplace.schemas.support_requests import (
    OpenSupportRequest,
    ResolveSupportRequest,
)
from thenga.domains.marketplace.services import recipients
from thenga.domains.marketplace.tables.listings import Listing, LiveListing
from thenga.domains.marketplace.tables.quote_requests import QuoteRequest
from thenga.domains.marketplace.tables.support import SupportKind, SupportRequest, SupportStatus
from thenga.domains.supplier.public import Suppliers
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.acting import same_person
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, RuleViolated, SamePerson
from thenga.kernel.ports.asking import asking
from thenga.kernel.values.references import Reference

_LISTING = ("marketplace", "listing")
_ABOUT = {
    SupportKind.REPORT_LISTING: _LISTING,
    SupportKind.APPEAL_MODERATION: _LISTING,
    SupportKind.REPORT_PROVIDER: ("supplier", "supplier"),
    SupportKind.QUOTE_PROBLEM: ("marketplace", "quoteRequest"),
}


async def open_support_request(work: Work, given: OpenSupportRequest) -> SupportRequest:
    """Open a support request; the same one is open once."""
    decided_by = await _check_subject(work, given.kind, given.about)
    about_key = f"{given.about.domain}/{given.about.type}/{given.about.id}"
    opened = select(SupportRequest).where(
        SupportRequest.organization_id == work.organization_id,
        SupportRequest.kind == given.kind,
        SupportRequest.about_key == about_key,
        SupportRequest.status == SupportStatus.OPEN,
    )
    for earlier in await work.all(opened, limit=1):
        raise _duplicate_of(earlier)
    request = SupportRequest.of(
        given,
        organization_id=work.organization_id,
        counterparty_id=OPERATOR,
        about_key=about_key,
        opened_by=work.actor.person_id,
        decided_by=decided_by,
    )
    try:
        await work.add(request)
    except asyncpg.UniqueViolationError:  # another call opened it at the same time
        raise Duplicate("This is open already. Wait for the answer.") from None
    _publish(work, public.SupportRequested.of(request, **_parties(request)), OPERATOR)
    return request


async def close_support_request(work: Work, request_id: UUID) -> SupportRequest:
    """The organization that opened it has the answer, or does not need it."""
    request = await work.lock(SupportRequest, request_id)
    if SupportRequestLifecycle.close.make(work, request):
        await work.save(request)
    return request


async def resolve_support_request(
    work: Work, request_id: UUID, given: ResolveSupportRequest
) -> SupportRequest:
    """Staff answer; an appeal is not decided by the moderator it is against (MKT-4)."""
    request = await work.lock(SupportRequest, request_id)
    if same_person(work, request.opened_by, request.decided_by):
        raise SamePerson()
    if SupportRequestLifecycle.resolve.make(work, request, code=given.outcome):
        request.outcome, request.answer = given.outcome, given.text
        await work.save(request)
        resolved = public.SupportRequestResolved.of(request, **_parties(request))
        _publish(work, resolved, request.organization_id)
    return request


def _publish(
    work: Work, event: public.SupportRequested | public.SupportRequestResolved, other: UUID
) -> None:
    work.publish(event)
    work.publish(event, to=other)


def _parties(request: SupportRequest) -> dict[str, UUID]:
    return {
        "reporter_organization_id": request.organization_id,
        "operator_organization_id": OPERATOR,
    }


def _duplicate_of(request: SupportRequest) -> Duplicate:
    existing = {"domain": "marketplace", "type": "supportRequest", "id": str(request.id)}
    return Duplicate("This is open already. Wait for the answer.", existing=existing)


async def _check_subject(work: Work, kind: SupportKind, about: Reference) -> UUID | None:
    """Refuse what the organization cannot ask about; the moderator of an appealed decision."""
    if (about.domain, about.type) != _ABOUT[kind]:
        domain, type_ = _ABOUT[kind]
        raise _not_the_subject(f"{kind.value} is about a {type_} of {domain}.")
    if kind is SupportKind.APPEAL_MODERATION:
        return await _moderator_of(work, about.id)
    if kind is SupportKind.REPORT_LISTING:
        is_known = await work.find(LiveListing, id=about.id) is not None
    elif kind is SupportKind.REPORT_PROVIDER:
        is_known = await _is_supplier(work, about.id)
    else:
        is_known = await work.find(QuoteRequest, id=about.id) is not None or bool(
            await recipients.recipients_of(work, about.id)
        )
    if not is_known:
        raise _not_the_subject("There is nothing with this ID that you can read.")
    return None


async def _moderator_of(work: Work, listing_id: UUID) -> UUID:
    """Who decided last about a listing of the organization, also by suspending it."""
    listing = await work.find(Listing, id=listing_id, organization_id=work.organization_id)
    if listing is not None and listing.decided_by is not None:
        return listing.decided_by
    raise _not_the_subject("No moderator has decided about a listing of yours with this ID.")


async def _is_supplier(work: Work, supplier_id: UUID) -> bool:
    """Whether the organization reads this supplier; silence lets the report through."""
    asked = [supplier_id]
    mine = work.organization_id
    cards = await asking(
        work,
        Suppliers,
        lambda port: port.describe(organization_id=mine, supplier_ids=asked),
        silent=None,
    )
    return cards is None or bool(cards)


def _not_the_subject(detail: str) -> RuleViolated:
    return RuleViolated(detail, rule="support-subject", field="/about")
