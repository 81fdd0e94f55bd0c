"""Search over the listings of all providers."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field

from thenga.domains.marketplace.permissions import Permission
from thenga.domains.marketplace.schemas.search import Searched
from thenga.domains.marketplace.services import search
from thenga.domains.marketplace.services.places import PlaceUnknown
from thenga.domains.marketplace.services.search import Hit
from thenga.domains.marketplace.services.verification import displays_of
from thenga.domains.marketplace.tables.listings import ListingKind, LiveListing
from thenga.domains.marketplace.values.areas import Areas
from thenga.domains.marketplace.values.factors import Score
from thenga.domains.marketplace.values.listing_content import Pricing
from thenga.domains.marketplace.values.verification import VerificationDisplay
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import SearchTooBroad
from thenga.kernel.http.bodies import PageOf, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads
from thenga.kernel.http.filters import filtered
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems

router = make_router("Marketplace / Search")


class FoundListing(View):
    """A listing that was found."""

    id: Annotated[UUID, Field(description="Listing.")]
    organization_id: Annotated[UUID, Field(description="Provider.")]
    supplier_id: Annotated[UUID, Field(description="Supplier of the provider.")]
    provider_name: Annotated[
        str | None, Field(description="Name of the provider. Null until its profile was read.")
    ]
    kind: Annotated[ListingKind, Field(description="Service, product or capability.")]
    title: Annotated[str, Field(description="Title.")]
    summary: Annotated[str, Field(description="Summary.")]
    category_ids: Annotated[list[UUID], Field(description="Categories; the first is primary.")]
    areas: Annotated[Areas, Field(description="Where it is delivered.")]
    pricing: Annotated[Pricing, Field(description="Pricing.")]
    live_version: Annotated[int, Field(description="Version that is shown.")]
    published_at: Annotated[datetime, Field(description="When this version was confirmed.")]

    @classmethod
    def of_row(cls, listing: LiveListing, provider_name: str | None) -> Self:
        fields = {**listing.content.__dict__, **listing.__dict__, "provider_name": provider_name}
        return cls.shown({name: fields[name] for name in cls.model_fields})


class Sponsorship(View):
    """A place that was paid for, beside the order."""

    label: Annotated[str, Field(description="What people are shown, such as Sponsored.")]
    organic_position: Annotated[int, Field(description="Position in the order by score.")]


class SearchItem(View):
    """A hit with its score."""

    listing: Annotated[FoundListing, Field(description="Listing.")]
    rank: Annotated[Score, Field(description="Score with its factors.")]
    verification: Annotated[
        VerificationDisplay, Field(description="What its owners verified, asked for this answer.")
    ]
    sponsored: Annotated[
        Sponsorship | None, Field(description="Always null: no place in the order is sold.")
    ] = None


class SearchTotal(View):
    """Number of listings that match."""

    value: Annotated[int, Field(description="Number of listings, at most 20,000.")]
    exact: Annotated[bool, Field(description="False if there are more.")]


class Ranking(View):
    """How hits are ordered."""

    version: Annotated[int, Field(description="Version of the formula.")]
    weights: Annotated[dict[str, int], Field(description="Weight of each factor, of 100.")]


class SearchPage(PageOf[SearchItem]):
    """One page of a search."""

    total: Annotated[SearchTotal, Field(description="How many listings there are on all pages.")]
    ranking: Annotated[Ranking, Field(description="Formula of the scores.")]
    as_of: Annotated[datetime, Field(description="When the scores of all pages were computed.")]


@router.get("/marketplace/search", responses=problems(SearchTooBroad, PlaceUnknown))
async def list_search_results(
    read: Annotated[Reader, reads(Permission.SEARCH_READ)],
    page: Annotated[Paged, paged("relevance", default="-relevance")],
    searched: Annotated[Searched, filtered()],
) -> SearchPage:
    """Search the listings of all providers.

    With words, at most 20,000 hits are ranked by score. Without words, the newest come first.
    """
    found = await search.search(read, page, searched)
    displays = await displays_of(read, [hit.listing for hit in found.hits])
    return SearchPage(
        items=[_item(hit, displays[hit.listing.id]) for hit in found.hits],
        next_cursor=found.next_cursor,
        total=SearchTotal(value=found.total, exact=found.exact),
        ranking=Ranking(version=search.ranking.VERSION, weights=search.ranking.WEIGHTS),
        as_of=found.as_of,
    )


def _item(hit: Hit, verification: VerificationDisplay) -> SearchItem:
    listing = FoundListing.of_row(hit.listing, hit.provider_name)
    return SearchItem(listing=listing, rank=hit.score, verification=verification)
