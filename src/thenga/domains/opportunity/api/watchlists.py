"""Watchlists: stored searches that alert."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.opportunity.api.tender_fields import (
    MainCategory,
    Method,
    Province,
    Sphere,
)
from thenga.domains.opportunity.lifecycles import WatchlistLifecycle
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.services import board
from thenga.domains.opportunity.services.board import Hits, WatchlistEmpty, WatchlistFields
from thenga.domains.opportunity.services.releases import number_key
from thenga.domains.opportunity.tables import Watchlist, WatchlistStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import (
    Duplicate,
    EntitlementRequired,
    InvalidTransition,
    PlanLimitReached,
)
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, text, whole

router = make_router("Opportunity / Watchlists")

WatchlistId = Annotated[UUID, Path(alias="watchlistId", description="ID of the watchlist.")]
Words = Annotated[str, text(2, 200)]
Code = Annotated[str, text(1, 120)]
Rand = Annotated[int, whole(0, 10**15)]
AlertOn = Annotated[
    list[Literal["published", "amended"]],
    Field(min_length=1, max_length=2, description="What you are alerted to."),
]
MinScore = Annotated[
    Annotated[int, whole(0, 100)] | None,
    Field(description="Minimum score of your match. Null alerts you to every matching tender."),
]
Shared = Annotated[bool, Field(description="Whether your colleagues see it and are alerted too.")]


class WatchlistFilters(Body):
    """Filters of the watchlist, with the same meaning as in the tender search."""

    q: Annotated[Words | None, Field(description="Words or a phrase in quotes.")] = None
    province: Annotated[Province | None, Field(description="Province of the work.")] = None
    municipality: Annotated[Code | None, Field(description="Municipality of the work.")] = None
    category: Annotated[Code | None, Field(description="Category as published.")] = None
    classification: Annotated[
        Code | None, Field(description="First 2, 4, 6 or 8 digits of a code.")
    ] = None
    buyer: Annotated[Words | None, Field(description="Words in the buyer's name.")] = None
    buyer_id: Annotated[Code | None, Field(description="ID of the buyer at the source.")] = None
    sphere: Annotated[Sphere | None, Field(description="Sphere of government.")] = None
    method: Annotated[Method | None, Field(description="Procurement method.")] = None
    main_category: Annotated[
        MainCategory | None, Field(description="Goods, works or services.")
    ] = None
    cidb_class: Annotated[Code | None, Field(description="Required CIDB class.")] = None
    cidb_grade_max: Annotated[
        Annotated[int, whole(1, 9)] | None,
        Field(description="Highest required CIDB grade."),
    ] = None
    value_min: Annotated[Rand | None, Field(description="Minimum value in rand.")] = None
    value_max: Annotated[Rand | None, Field(description="Maximum value in rand.")] = None
    closing_from: Annotated[Instant | None, Field(description="Closing at or after this time.")] = (
        None
    )
    closing_to: Annotated[Instant | None, Field(description="Closing before this time.")] = None
    published_from: Annotated[
        Instant | None, Field(description="Published at or after this time.")
    ] = None
    briefing: Annotated[
        Literal["compulsory", "any", "none"] | None,
        Field(description="Whether there is a briefing."),
    ] = None
    tender_number: Annotated[
        Annotated[str, text(2, 120)] | None, Field(description="Tender number or part of it.")
    ] = None
    ocid: Annotated[
        Annotated[str, text(3, 120)] | None, Field(description="Open contracting ID.")
    ] = None
    source_id: Annotated[UUID | None, Field(description="Source of the tender.")] = None
    has_documents: Annotated[bool | None, Field(description="Whether documents are published.")] = (
        None
    )

    def given(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in type(self).model_fields}
        for name in ("value_min", "value_max"):
            if values[name] is not None:
                values[name] *= 100
        return {name: value for name, value in values.items() if value is not None}

    def number_key(self) -> str | None:
        return None if self.tender_number is None else number_key(self.tender_number)


class CreateWatchlist(Body):
    """A saved search that sends alerts."""

    name: Annotated[str, text(1, 80), Field(description="Name, unique in your organization.")]
    filters: WatchlistFilters
    alert_on: AlertOn = ["published"]
    min_score: MinScore = None
    shared: Shared = False

    def fields(self) -> WatchlistFields:
        return WatchlistFields(
            name=self.name,
            filters=self.filters.given(),
            number_key=self.filters.number_key(),
            alert_on=list(dict.fromkeys(self.alert_on)),
            min_score=self.min_score,
            shared=self.shared,
        )


class ChangeWatchlist(Body):
    """Fields to update, and one move. Omitted fields stay unchanged."""

    name: Annotated[str, text(1, 80), Field(description="Name.")] = "unchanged"
    filters: WatchlistFilters | None = None
    alert_on: AlertOn = ["published"]
    min_score: MinScore = None
    shared: Shared = False
    move: Annotated[
        Literal["pause", "resume", "archive"] | None, Field(description="Move to make.")
    ] = None

    def fields(self) -> dict[str, Any]:
        sent = self.changes()
        sent.pop("move", None)
        if "min_score" in sent:
            least = sent.pop("min_score")
            sent["min_score_tenths"] = None if least is None else least * 10
        if "shared" in sent:
            sent["is_shared"] = sent.pop("shared")
        filters = sent.pop("filters", None)
        if filters is not None:
            sent |= {"filters": filters.given(), "number_key": filters.number_key()}
        return sent


class WatchlistFiltersView(View):
    """Filters of the watchlist."""

    q: str | None
    province: str | None
    municipality: str | None
    category: str | None
    classification: str | None
    buyer: str | None
    buyer_id: str | None
    sphere: str | None
    method: str | None
    main_category: str | None
    cidb_class: str | None
    cidb_grade_max: int | None
    value_min: Annotated[int | None, Field(description="Minimum value in rand.")]
    value_max: Annotated[int | None, Field(description="Maximum value in rand.")]
    closing_from: datetime | None
    closing_to: datetime | None
    published_from: datetime | None
    briefing: str | None
    tender_number: str | None
    ocid: str | None
    source_id: UUID | None
    has_documents: bool | None

    @classmethod
    def of(cls, filters: dict[str, Any]) -> "WatchlistFiltersView":
        values: dict[str, Any] = {name: filters.get(name) for name in cls.model_fields}
        for name in ("value_min", "value_max"):
            if values[name] is not None:
                values[name] //= 100
        return cls.model_validate(values)


class WatchlistView(Stored):
    """A watchlist."""

    organization_id: Annotated[UUID, Field(description="Your organization.")]
    name: Annotated[str, Field(description="Name.")]
    filters: Annotated[WatchlistFiltersView, Field(description="Filters of the watchlist.")]
    alert_on: Annotated[list[str], Field(description="What you are alerted to.")]
    min_score: Annotated[int | None, Field(description="Minimum score of your match.")]
    shared: Annotated[bool, Field(description="Whether your colleagues see it.")]
    owner_user_id: Annotated[UUID | None, Field(description="Person who created it.")]
    status: Annotated[WatchlistStatus, Field(description="Status.")]
    status_reason: Annotated[
        str | None, Field(description="`plan_limit` if a smaller plan paused it.")
    ]
    hits_30d: Annotated[
        int, Field(alias="hits30d", description="Tenders found in the last 30 days.")
    ]
    last_hit_at: Annotated[datetime | None, Field(description="When it last found one.")]
    allowed_moves: Annotated[list[AllowedMove], Field(description="Possible moves.")]

    @classmethod
    def of(cls, row: Watchlist, hits: dict[UUID, Hits], now: datetime) -> "WatchlistView":
        found = hits.get(row.id, Hits())
        least = row.min_score_tenths
        values = row.__dict__ | {
            "filters": WatchlistFiltersView.of(row.filters),
            "min_score": None if least is None else least // 10,
            "shared": row.is_shared,
            "hits_30d": found.count,
            "last_hit_at": found.last_at,
            "allowed_moves": WatchlistLifecycle.allowed(row, now),
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


_LIMITS = (PlanLimitReached, EntitlementRequired, Duplicate, WatchlistEmpty)


@router.post(
    "/organizations/{organizationId}/watchlists", status_code=201, responses=problems(*_LIMITS)
)
async def create_watchlist(
    body: CreateWatchlist,
    work: Annotated[Work, writes(Permission.WATCHLIST_MANAGE)],
) -> WatchlistView:
    """Create a watchlist that alerts you to matching tenders. Your plan limits the number."""
    row = await board.create_watchlist(work, body.fields())
    return WatchlistView.of(row, {}, work.now)


@router.get("/organizations/{organizationId}/watchlists")
async def list_watchlists(
    read: Annotated[Reader, reads(Permission.WATCHLIST_READ)],
    page: Annotated[Paged, paged("createdAt", "name", default="-createdAt")],
    status: Annotated[WatchlistStatus | None, Query(description="Filter by status.")] = None,
    mine: Annotated[bool | None, Query(description="Only watchlists that you created.")] = None,
) -> PageOf[WatchlistView]:
    """List your watchlists and those that colleagues share with you."""
    found = await board.list_watchlists(read, page, status=status, mine=mine)
    hits = await board.hits_of(read, [one.id for one in found.items])
    return PageOf[WatchlistView].of(found, lambda one: WatchlistView.of(one, hits, read.now))


@router.get("/organizations/{organizationId}/watchlists/{watchlistId}")
async def get_watchlist(
    watchlist_id: WatchlistId,
    read: Annotated[Reader, reads(Permission.WATCHLIST_READ)],
) -> WatchlistView:
    """Retrieve a watchlist with its recent hits."""
    row = await board.get_watchlist(read, watchlist_id)
    return WatchlistView.of(row, await board.hits_of(read, [row.id]), read.now)


@router.patch(
    "/organizations/{organizationId}/watchlists/{watchlistId}",
    responses=problems(*_LIMITS, InvalidTransition),
)
async def change_watchlist(
    watchlist_id: WatchlistId,
    body: ChangeWatchlist,
    work: Annotated[Work, writes(Permission.WATCHLIST_MANAGE)],
) -> WatchlistView:
    """Change, pause, resume or archive a watchlist. Archived ones do not count for the limit."""
    row = await board.change_watchlist(work, watchlist_id, body.fields(), move=body.move)
    return WatchlistView.of(row, await board.hits_of(work, [row.id]), work.now)
