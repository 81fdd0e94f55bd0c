"""Tenders: captured, found, read, changed and published."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Query
from pydantic import Field
from sqlalchemy import select

from thenga.domains.opportunity.api.briefings import shown_briefings
from thenga.domains.opportunity.api.deadlines import shown_deadlines
from thenga.domains.opportunity.api.opportunity_views import (
    ApproximateTotal,
    OpportunityRow,
    OpportunityView,
)
from thenga.domains.opportunity.api.search_filters import SearchedTenders
from thenga.domains.opportunity.api.tender_fields import (
    AwardBody,
    BuyerBody,
    ClassificationBody,
    MainCategory,
    Method,
    Ocid,
    Precision,
    Province,
    TenderContactBody,
    TenderNumber,
    TenderOpportunityId,
    Visibility,
)
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.services import amendments, board, mine, notices, tenants
from thenga.domains.opportunity.services.notices import (
    OpportunityClosingInPast,
    OpportunityIncomplete,
    OpportunityNotKeeper,
)
from thenga.domains.opportunity.tables import Document, TenderOpportunity
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Duplicate,
    Forbidden,
    InvalidTransition,
    PreconditionRequired,
    RuleViolated,
    SearchTooBroad,
)
from thenga.kernel.http.bodies import Body, PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, TimeZoneName, lines, matching, text
from thenga.kernel.values.money import Money

router = make_router("Opportunity / Tenders")

Title = Annotated[str, text(1, 500)]


class TenderFields(Body):
    """Fields of a notice."""

    description: Annotated[
        Annotated[str, lines(1, 20_000)] | None, Field(description="Description.")
    ] = None
    ocid: Annotated[
        Ocid | None, Field(description="Open contracting ID. Only the platform can set it.")
    ] = None
    opens_at: Annotated[Instant | None, Field(description="When the tender opens for bids.")] = None
    closing_at: Annotated[Instant | None, Field(description="When the tender closes.")] = None
    closing_precision: Precision = "minute"
    time_zone: Annotated[TimeZoneName, Field(description="Time zone of the dates.")] = (
        "Africa/Johannesburg"
    )
    method: Annotated[Method | None, Field(description="Procurement method.")] = None
    method_details: Annotated[
        Annotated[str, text(1, 300)] | None, Field(description="Method as published.")
    ] = None
    main_category: Annotated[
        MainCategory | None, Field(description="Goods, works or services.")
    ] = None
    category_text: Annotated[
        Annotated[str, text(1, 300)] | None, Field(description="Category as published.")
    ] = None
    classifications: Annotated[list[ClassificationBody], Field(max_length=20)] = []
    value: Annotated[Money | None, Field(description="Estimated value.")] = None
    provinces: Annotated[
        list[Province], Field(max_length=9, description="Provinces of the work.")
    ] = []
    municipality_code: Annotated[
        Annotated[str, matching("^[A-Z0-9]{2,10}$", 10)] | None,
        Field(description="Municipality of the work, such as KZN225 or ETH."),
    ] = None
    delivery_text: Annotated[
        Annotated[str, lines(1, 2000)] | None, Field(description="Place of delivery as published.")
    ] = None
    special_conditions: Annotated[
        Annotated[str, lines(1, 4000)] | None, Field(description="Special conditions.")
    ] = None
    contact: TenderContactBody | None = None
    visibility: Annotated[
        Visibility, Field(description="Whether everyone sees the tender once it is published.")
    ] = "private"

    def fields(self) -> dict[str, Any]:
        """What was sent, as the service takes it."""
        made = {
            name: value
            for name, value in self.changes().items()
            if name not in ("buyer", "amendment", "move", "reason", "awards", "superseded_by")
        }
        if "classifications" in made:
            made["classifications"] = [one.model_dump() for one in self.classifications]
        if self.contact is not None and "contact" in made:
            made["contact"] = self.contact.model_dump()
        return made


class CaptureOpportunity(TenderFields):
    """A tender that you found or publish yourself. It starts as a draft that only you see."""

    tender_number: Annotated[TenderNumber, Field(description="Buyer's tender number.")]
    title: Annotated[Title, Field(description="Title.")]
    buyer: BuyerBody

    def fields(self) -> dict[str, Any]:
        return super().fields() | {"buyer": self.buyer.columns()}


class AmendmentBody(Body):
    """How the buyer announced the change."""

    buyer_reference: Annotated[
        Annotated[str, text(1, 60)] | None,
        Field(description="Buyer's reference, such as Addendum 2."),
    ] = None
    note: Annotated[Annotated[str, lines(1, 500)] | None, Field(description="Note.")] = None


class ChangeOpportunity(TenderFields):
    """Fields to change, a move, or both. Changes to a published tender become an amendment."""

    tender_number: Annotated[TenderNumber, Field(description="Buyer's tender number.")] = ""
    title: Annotated[Title, Field(description="Title.")] = ""
    buyer: BuyerBody | None = None
    amendment: AmendmentBody | None = None
    move: Annotated[
        Literal["cancel", "withdraw", "fail", "supersede", "award", "set_aside"] | None,
        Field(description="Move to make."),
    ] = None
    reason: Annotated[
        Annotated[str, text(1, 500)] | None, Field(description="Reason for the move.")
    ] = None
    awards: Annotated[
        list[AwardBody] | None, Field(max_length=50, description="Awards, with `move` award.")
    ] = None
    superseded_by: Annotated[
        UUID | None, Field(description="Tender that replaces this one, with `move` supersede.")
    ] = None

    def fields(self) -> dict[str, Any]:
        made = super().fields()
        return made if self.buyer is None else made | {"buyer": self.buyer.columns()}


class PublishOpportunity(Body):
    """Options for publishing."""

    visibility: Annotated[
        Visibility | None, Field(description="Visibility. Defaults to that of the draft.")
    ] = None


class OpportunityPage(PageOf[OpportunityRow]):
    """One page of matching tenders."""

    approximate_total: ApproximateTotal


@router.post(
    "/opportunities",
    status_code=201,
    responses=problems(Duplicate, Forbidden, OpportunityClosingInPast, RuleViolated),
)
async def create_opportunity(
    body: CaptureOpportunity,
    work: Annotated[Work, writes(Permission.OPPORTUNITY_CREATE)],
) -> OpportunityView:
    """Capture a tender as a draft. `possibleDuplicates` lists tenders that may be the same."""
    await tenants.act_for_platform(work)
    tender = await notices.create(work, body.fields())
    return await _shown(work, tender, alike=await notices.possible_duplicates(work, tender))


@router.get("/opportunities", responses=problems(SearchTooBroad, RuleViolated))
async def list_opportunities(
    read: Annotated[Reader, reads(Permission.OPPORTUNITY_READ)],
    page: Annotated[Paged, paged("closingAt", "publishedOn", "relevance")],
    searched: Annotated[SearchedTenders, Depends()],
    watchlist_id: Annotated[
        UUID | None,
        Query(alias="watchlistId", description="Watchlist whose filters to use instead."),
    ] = None,
) -> OpportunityPage:
    """Search shared tenders and those that your organization captured."""
    await tenants.act_for_platform(read)
    filters = searched.filters()
    if watchlist_id is not None:
        filters = notices.stored_filters((await board.get_watchlist(read, watchlist_id)).filters)
    found = await notices.search(read, page, filters)
    return OpportunityPage(
        items=[
            OpportunityRow.of(one, read.now, read.organization_id, found.hits.get(one.id, []))
            for one in found.tenders
        ],
        next_cursor=found.next_cursor,
        approximate_total=ApproximateTotal(value=found.total, exact=found.exact),
    )


@router.get("/opportunities/{tenderOpportunityId}")
async def get_opportunity(
    tender_opportunity_id: TenderOpportunityId,
    read: Annotated[Reader, reads(Permission.OPPORTUNITY_READ)],
    include: Annotated[
        Literal["mine", "provenance"] | None,
        Query(description="`mine` adds your own records, `provenance` the origin of the notice."),
    ] = None,
) -> OpportunityView:
    """Retrieve a tender with its documents, briefings, deadlines and terms."""
    await tenants.act_for_platform(read)
    tender = await read.get(TenderOpportunity, tender_opportunity_id)
    return await _shown(read, tender, include=include)


@router.patch(
    "/opportunities/{tenderOpportunityId}",
    responses=problems(
        OpportunityNotKeeper,
        OpportunityClosingInPast,
        Duplicate,
        Forbidden,
        PreconditionRequired,
        InvalidTransition,
        RuleViolated,
    ),
)
async def change_opportunity(
    tender_opportunity_id: TenderOpportunityId,
    body: ChangeOpportunity,
    work: Annotated[Work, writes(Permission.OPPORTUNITY_UPDATE)],
) -> OpportunityView:
    """Change or end a tender that you manage. `If-Match` is required once it is published."""
    await tenants.act_for_platform(work)
    amendment = body.amendment or AmendmentBody()
    awards = None if body.awards is None else [one.stored() for one in body.awards]
    tender = await amendments.change(
        work,
        tender_opportunity_id,
        body.fields(),
        buyer_reference=amendment.buyer_reference,
        note=amendment.note,
        move=body.move,
        reason=body.reason,
        awards=awards,
        superseded_by=body.superseded_by,
    )
    return await _shown(work, tender)


@router.post(
    "/opportunities/{tenderOpportunityId}/publish",
    responses=problems(
        OpportunityNotKeeper, OpportunityIncomplete, OpportunityClosingInPast, Forbidden
    ),
)
async def publish_opportunity(
    tender_opportunity_id: TenderOpportunityId,
    body: PublishOpportunity,
    work: Annotated[Work, writes(Permission.OPPORTUNITY_PUBLISH)],
) -> OpportunityView:
    """Publish a draft. Only the platform can share it with everyone."""
    await tenants.act_for_platform(work)
    tender = await notices.keep(work, tender_opportunity_id)
    await notices.publish(work, tender, visibility=body.visibility)
    return await _shown(work, tender)


async def _shown(
    read: Reader,
    tender: TenderOpportunity,
    *,
    include: str | None = None,
    alike: list[UUID] | None = None,
) -> OpportunityView:
    documents = select(Document).where(
        Document.tender_opportunity_id == tender.id, Document.superseded_by.is_(None)
    )
    return OpportunityView.whole(
        tender,
        read.now,
        read.organization_id,
        documents=await read.all(documents.order_by(Document.id), limit=500),
        briefings=await shown_briefings(read, tender),
        deadlines=await shown_deadlines(read, tender),
        mine=await mine.mine_of(read, tender.id) if include == "mine" else None,
        provenance=await mine.provenance_of(read, tender) if include == "provenance" else None,
        alike=alike or [],
    )
