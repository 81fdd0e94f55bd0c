"""Bodies and filters of listings."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path
from pydantic import MISSING, Field
from sqlalchemy import ColumnElement

from thenga.domains.marketplace.tables.listings import (
    Listing,
    ListingKind,
    ListingStatus,
    Visibility,
)
from thenga.domains.marketplace.values.decisions import DecisionKind, ReasonCodes
from thenga.domains.marketplace.values.listing_content import ListingContent
from thenga.kernel.http.bodies import Body
from thenga.kernel.http.filters import Filters, Where
from thenga.kernel.values.fields import Count, Note, matching

ListingId = Annotated[UUID, Path(alias="listingId", description="ID of the listing.")]
Content = Annotated[ListingContent, Field(description="What the listing says.")]
VisibilityField = Annotated[Visibility, Field(description="Who can find it while it is served.")]
ContentHash = Annotated[str, matching("^[0-9a-f]{64}$", 64)]


class CreateListing(Body):
    """A listing of your own supplier."""

    kind: Annotated[ListingKind, Field(description="What is offered. It never changes.")]
    content: Content
    visibility: VisibilityField = Visibility.TENANTS
    submit: Annotated[bool, Field(description="Whether to submit it for review at once.")] = False


class ChangeListing(Body):
    """New content, or a move, or both: the content is changed first."""

    content: Annotated[
        ListingContent | MISSING,
        Field(description="The whole new content. A moderator reviews it before it is served."),
    ] = MISSING
    move: Annotated[
        Literal["submit", "pause", "resume", "close", "cancel_change"] | MISSING,
        Field(description="Move to make."),
    ] = MISSING


class ModerateListing(Body):
    """A decision about exactly the version that you have read."""

    version_number: Annotated[Count, Field(description="Number of the version.")]
    content_hash: Annotated[ContentHash, Field(description="Hash of its content.")]
    decision: Annotated[DecisionKind, Field(description="What you decide.")]
    reason_codes: ReasonCodes
    text: Annotated[Note | None, Field(description="Explanation to the provider.")] = None


class SetVisibility(Body):
    """Who can find the listing."""

    visibility: VisibilityField


def _is_pending(value: bool) -> ColumnElement[bool]:
    return Listing.pending_since.is_not(None) if value else Listing.pending_since.is_(None)


class ListingFilters(Filters[Listing]):
    """What listings are listed."""

    status: list[ListingStatus] | None = None
    kind: ListingKind | None = None
    visibility: Visibility | None = None
    supplier_id: UUID | None = None
    pending: Annotated[
        bool | None,
        Where(_is_pending, Listing.pending_since, "Only listings that wait for a moderator."),
    ] = None
