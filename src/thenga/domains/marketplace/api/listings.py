"""Listings: what providers offer, and what moderators decide about it."""

from typing import Annotated, Self
from uuid import UUID

from pydantic import Field
from sqlalchemy import func

from thenga.domains.marketplace.lifecycles.listings import ListingLifecycle
from thenga.domains.marketplace.permissions import Permission
from thenga.domains.marketplace.schemas.listings import (
    ChangeListing,
    ContentHash,
    CreateListing,
    ListingFilters,
    ListingId,
    ModerateListing,
    SetVisibility,
)
from thenga.domains.marketplace.services import listings, moderation, serving, verification
from thenga.domains.marketplace.services.categories import CategoryUnknown
from thenga.domains.marketplace.services.listings import ReferenceUnknown
from thenga.domains.marketplace.services.moderation import OwnListing, VersionMoved
from thenga.domains.marketplace.services.providers import SupplierInactive, SupplierMissing
from thenga.domains.marketplace.tables.listings import (
    Listing,
    ListingKind,
    ListingStatus,
    ListingVersion,
    ListingVersionStatus,
    LiveListing,
    Visibility,
)
from thenga.domains.marketplace.values.decisions import Decision
from thenga.domains.marketplace.values.listing_content import ListingContent
from thenga.domains.marketplace.values.serving import ServingReason
from thenga.domains.marketplace.values.verification import VerificationDisplay
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.read_audit import tell
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Conflict,
    DependencyUnavailable,
    Duplicate,
    EntitlementRequired,
    InvalidTransition,
    PlanLimitReached,
    RuleViolated,
)
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.filters import filtered
from thenga.kernel.http.lists import paged
from thenga.kernel.http.moved import Moved
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Count, Instant

router = make_router("Marketplace / Listings")
_WAITING = func.coalesce(Listing.pending_since, Listing.created_at).label("pendingSince")
_Versions = dict[tuple[UUID, int], ListingVersion]
_Reasons = dict[UUID, list[ServingReason]]
_REFUSED = (
    SupplierMissing,
    SupplierInactive,
    CategoryUnknown,
    ReferenceUnknown,
    Duplicate,
    RuleViolated,
    EntitlementRequired,
    PlanLimitReached,
    DependencyUnavailable,
)


class VersionView(View):
    """One version of the content."""

    number: Annotated[Count, Field(description="Number of the version.")]
    status: Annotated[ListingVersionStatus, Field(description="Status of the version.")]
    content: Annotated[ListingContent, Field(description="What the listing says.")]
    content_hash: Annotated[ContentHash, Field(description="Hash of the content.")]
    decided_at: Annotated[Instant | None, Field(description="When it was decided.")]


class ListingView(Moved, lifecycle=ListingLifecycle):
    """A listing. Other organizations see its live version only, and only while it is served."""

    organization_id: Annotated[UUID, Field(description="Company that offers it.")]
    supplier_id: Annotated[UUID, Field(description="Own supplier of that company.")]
    kind: Annotated[ListingKind, Field(description="Kind of offer.")]
    status: Annotated[ListingStatus, Field(description="Status of the listing.")]
    visibility: Annotated[Visibility, Field(description="Who can find it while it is served.")]
    served: Annotated[bool, Field(description="Whether other organizations see it now.")]
    serving_reasons: Annotated[
        list[ServingReason] | None,
        Field(
            description="Why other organizations do not see it; empty while they do. Only you and "
            "moderators see it."
        ),
    ]
    live: Annotated[VersionView | None, Field(description="Version that is served.")]
    change: Annotated[
        VersionView | None,
        Field(
            description="Version that is not decided yet; if there is none, the one that was "
            "refused, or withdrawn before the first decision. Only you and moderators see it."
        ),
    ]
    pending_since: Annotated[
        Instant | None, Field(description="Since when a version waits for a moderator.")
    ]
    decision: Annotated[
        Decision | None,
        Field(description="Newest decision of a moderator. Only you and moderators see it."),
    ]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/marketplace/listings/{self.id}"

    @classmethod
    def whole(cls, listing: Listing, read: Reader, versions: _Versions, hidden: _Reasons) -> Self:
        """All of it, for its provider and for moderators."""
        live_version, change = (
            None if number is None else _version(versions[listing.id, number])
            for number in (listing.live_version, listings.change_of(listing))
        )
        return cls.of(
            listing,
            read,
            served=listing.id not in hidden,
            serving_reasons=hidden.get(listing.id, []),
            live=live_version,
            change=change,
        )

    @classmethod
    def outside(cls, live: LiveListing) -> Self:
        """What other organizations see."""
        version = VersionView(
            number=live.live_version,
            status=ListingVersionStatus.CONFIRMED,
            content=live.content,
            content_hash=live.content_hash,
            decided_at=live.published_at,
        )
        return cls.shown(
            {
                **live.__dict__,
                "status": ListingStatus.PUBLISHED,
                "allowed_moves": [],
                "served": True,
                "serving_reasons": None,
                "live": version,
                "change": None,
                "pending_since": None,
                "decision": None,
            }
        )


class VerificationView(View):
    """What is verified of a listing and of its provider now."""

    listing_id: Annotated[UUID, Field(description="ID of the listing.")]
    verification: Annotated[
        VerificationDisplay, Field(description="As its owners answered this request.")
    ]


def _version(version: ListingVersion) -> VersionView:
    return VersionView.shown({**version.__dict__})


async def _view(listing: Listing, read: Reader) -> ListingView:
    versions = await listings.versions_of(read, [listing])
    hidden = await serving.reasons_of(read, [listing])
    return ListingView.whole(listing, read, versions, hidden)


@router.post("/marketplace/listings", status_code=201, responses=problems(*_REFUSED, Conflict))
async def create_listing(
    body: CreateListing, work: Annotated[Work, writes(Permission.LISTING_CREATE)]
) -> ListingView:
    """Create a listing of your own supplier, as a draft or submitted for review.

    A moderator publishes it. Submitted and published listings count against the plan.
    """
    return await _view(await listings.create_listing(work, body), work)


@router.get("/marketplace/listings")
async def list_listings(
    read: Annotated[Reader, reads(Permission.LISTING_READ, for_staff=True)],
    page: Annotated[Paged, paged("createdAt", _WAITING, default="-createdAt")],
    filters: Annotated[ListingFilters, filtered()],
) -> PageOf[ListingView]:
    """List the listings of your organization; for moderators, all that were ever submitted.

    To find listings of others, search the marketplace.
    """
    found = await read.page(filters.select(), page)
    if read.held_as == HeldAs.PLATFORM:
        shown = {"listingIds": [str(listing.id) for listing in found.items]}
        await tell(read, "listing.listed", ("marketplace.listing", "list"), shown)
    versions = await listings.versions_of(read, found.items)
    hidden = await serving.reasons_of(read, found.items)
    return PageOf.of(found, ListingView.whole, read, versions, hidden)


@router.get("/marketplace/listings/{listingId}")
async def get_listing(
    listing_id: ListingId,
    read: Annotated[Reader, reads(Permission.LISTING_READ, for_staff=True)],
) -> ListingView:
    """Get a listing: all of your own, and what is served of others."""
    listing = await read.find(Listing, id=listing_id)
    if listing is None:
        return ListingView.outside(await serving.get_live(read, listing_id))
    if read.held_as == HeldAs.PLATFORM:
        await tell(read, "listing.read", ("marketplace.listing", listing_id), {})
    return await _view(listing, read)


@router.patch("/marketplace/listings/{listingId}", responses=problems(*_REFUSED, InvalidTransition))
async def change_listing(
    listing_id: ListingId,
    body: ChangeListing,
    work: Annotated[Work, writes(Permission.LISTING_UPDATE)],
) -> ListingView:
    """Change the content of a listing, submit, pause, resume or close it.

    What is served stays as it is until a moderator confirms the new version. A further change
    replaces the one that waits.
    """
    return await _view(await listings.change_listing(work, listing_id, body), work)


@router.patch("/marketplace/listings/{listingId}/visibility", responses=problems(InvalidTransition))
async def change_listing_visibility(
    listing_id: ListingId,
    body: SetVisibility,
    work: Annotated[Work, writes(Permission.LISTING_VISIBILITY)],
) -> ListingView:
    """Choose who can find a listing while it is served."""
    return await _view(await listings.set_visibility(work, listing_id, body.visibility), work)


@router.post(
    "/marketplace/listings/{listingId}/moderate",
    responses=problems(
        InvalidTransition, RuleViolated, VersionMoved, OwnListing, DependencyUnavailable
    ),
)
async def moderate_listing(
    listing_id: ListingId,
    body: ModerateListing,
    work: Annotated[Work, writes(Permission.LISTING_MODERATE, for_staff=True)],
) -> ListingView:
    """Decide about a version of a listing, by its number and hash.

    Only staff who do not belong to the provider decide. The provider sees the reasons.
    """
    return await _view(await moderation.moderate(work, listing_id, body), work)


@router.get("/marketplace/listings/{listingId}/verification-display")
async def get_verification_display(
    listing_id: ListingId,
    read: Annotated[Reader, reads(Permission.LISTING_READ, for_staff=True)],
) -> VerificationView:
    """Get what is verified of a served listing and its provider, as its owners say now.

    Nothing of it is stored here. An owner that does not answer is shown as unknown.
    """
    live = await serving.get_live(read, listing_id)
    shown = await verification.displays_of(read, [live])
    return VerificationView(listing_id=live.id, verification=shown[live.id])
