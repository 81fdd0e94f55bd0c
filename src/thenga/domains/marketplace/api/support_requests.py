"""Support requests, for the organization that opened them and for staff."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from thenga.domains.marketplace.lifecycles.support import SupportRequestLifecycle
from thenga.domains.marketplace.permissions import Permission
from thenga.domains.marketplace.schemas.support_requests import (
    About,
    ChangeSupportRequest,
    EvidenceRefs,
    Kind,
    OpenSupportRequest,
    ResolveSupportRequest,
    SupportRequestFilters,
    SupportRequestId,
    WhatHappened,
)
from thenga.domains.marketplace.services import support_requests
from thenga.domains.marketplace.tables.support import (
    SupportOutcome,
    SupportRequest,
    SupportStatus,
)
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.read_audit import tell
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate, InvalidTransition, RuleViolated, SamePerson
from thenga.kernel.http.bodies import PageOf
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.filters import filtered
from thenga.kernel.http.lists import paged
from thenga.kernel.http.moved import Moved
from thenga.kernel.http.reference import problems

router = make_router("Marketplace / Support requests")


class SupportRequestView(Moved, lifecycle=SupportRequestLifecycle):
    """A support request; only the organization that opened it and staff read it."""

    organization_id: Annotated[UUID, Field(description="Organization that opened it.")]
    kind: Kind
    about: About
    text: WhatHappened
    evidence_refs: EvidenceRefs
    outcome: Annotated[SupportOutcome | None, Field(description="How it was resolved.")]
    answer: Annotated[str | None, Field(description="Answer of staff.")]
    status: Annotated[SupportStatus, Field(description="Status of the support request.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/marketplace/support-requests/{self.id}"


@router.post(
    "/marketplace/support-requests", status_code=201, responses=problems(Duplicate, RuleViolated)
)
async def open_support_request(
    body: OpenSupportRequest,
    work: Annotated[Work, writes(Permission.SUPPORT_REQUEST_CREATE)],
) -> SupportRequestView:
    """Report a listing or a provider, appeal against a decision, or ask about a quote.

    Nobody but staff reads it. A report never suspends anything by itself.
    """
    return SupportRequestView.of(await support_requests.open_support_request(work, body), work)


@router.get("/marketplace/support-requests")
async def list_support_requests(
    read: Annotated[Reader, reads(Permission.SUPPORT_REQUEST_READ, for_staff=True)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    filters: Annotated[SupportRequestFilters, filtered()],
) -> PageOf[SupportRequestView]:
    """List the support requests of your organization. Staff list everybody's."""
    found = await read.page(filters.select(), page)
    if read.held_as == HeldAs.PLATFORM:
        shown = {"supportRequestIds": [str(request.id) for request in found.items]}
        await tell(read, "support_request.listed", ("marketplace.support_request", "list"), shown)
    return PageOf.of(found, SupportRequestView.of, read)


@router.get("/marketplace/support-requests/{supportRequestId}")
async def get_support_request(
    support_request_id: SupportRequestId,
    read: Annotated[Reader, reads(Permission.SUPPORT_REQUEST_READ, for_staff=True)],
) -> SupportRequestView:
    """Get a support request with the answer of staff."""
    request = await read.get(SupportRequest, support_request_id)
    if read.held_as == HeldAs.PLATFORM:
        target = ("marketplace.support_request", support_request_id)
        await tell(read, "support_request.read", target, {})
    return SupportRequestView.of(request, read)


@router.patch(
    "/marketplace/support-requests/{supportRequestId}", responses=problems(InvalidTransition)
)
async def change_support_request(
    support_request_id: SupportRequestId,
    body: ChangeSupportRequest,
    work: Annotated[Work, writes(Permission.SUPPORT_REQUEST_UPDATE)],
) -> SupportRequestView:
    """Close a support request of your organization."""
    request = await support_requests.close_support_request(work, support_request_id)
    return SupportRequestView.of(request, work)


@router.post(
    "/marketplace/support-requests/{supportRequestId}/resolve",
    responses=problems(InvalidTransition, SamePerson),
)
async def resolve_support_request(
    support_request_id: SupportRequestId,
    body: ResolveSupportRequest,
    work: Annotated[Work, writes(Permission.SUPPORT_REQUEST_RESOLVE, for_staff=True)],
) -> SupportRequestView:
    """Answer a support request. The moderator of a decision does not resolve the appeal.

    The answer changes no listing. When an appeal against a suspension is upheld, a moderator calls
    `moderate` with `reinstate`. After any other decision the provider submits the content again,
    in a new listing if the old one was rejected.
    """
    request = await support_requests.resolve_support_request(work, support_request_id, body)
    return SupportRequestView.of(request, work)
