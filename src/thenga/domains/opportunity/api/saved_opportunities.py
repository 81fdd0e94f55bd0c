"""Saved opportunities: the board of a company."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.opportunity.lifecycles import SavedOpportunityLifecycle
from thenga.domains.opportunity.permissions import Permission
from thenga.domains.opportunity.public.board import DeclineReason
from thenga.domains.opportunity.services import board
from thenga.domains.opportunity.services.board import SavedFilters, StageLedByBid, StageTotal
from thenga.domains.opportunity.tables import SavedOpportunity, Stage, TenderOpportunity
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Conflict, Duplicate, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, lines, text, whole
from thenga.kernel.values.money import Money

router = make_router("Opportunity / Saved opportunities")

SavedId = Annotated[UUID, Path(alias="savedOpportunityId", description="ID of the saved tender.")]
Owner = Annotated[UUID | None, Field(description="Colleague responsible for it.")]
Priority = Annotated[
    Annotated[int, whole(1, 5)] | None, Field(description="Priority, 1 is the highest.")
]
Tags = Annotated[
    list[Annotated[str, text(1, 40)]], Field(max_length=10, description="Your own tags.")
]
Notes = Annotated[Annotated[str, lines(1, 4000)] | None, Field(description="Your notes.")]
Estimated = Annotated[Money | None, Field(description="Estimated value to you.")]
Rank = Annotated[
    Annotated[int, whole(0, 10**15)] | None, Field(description="Position in your own order.")
]
Reason = Annotated[
    DeclineReason | None, Field(description="Reason for declining. Required to decline.")
]


class SaveOpportunity(Body):
    """A tender to put on the board."""

    tender_opportunity_id: Annotated[UUID, Field(description="Tender to save.")]
    stage: Annotated[
        Literal["saved", "declined"], Field(description="`declined` needs `declineReason`.")
    ] = "saved"
    owner_user_id: Owner = None
    priority: Priority = None
    tags: Tags = []
    notes: Notes = None
    estimated_value: Estimated = None
    rank: Rank = None
    decline_reason: Reason = None


class AcknowledgeAmendment(Body):
    """Amendment that you have reviewed."""

    amendment_number: Annotated[
        Annotated[int, whole(1, 100_000)], Field(description="Number of the amendment.")
    ]


class ChangeSaved(Body):
    """Fields to update, and one move. Omitted fields stay unchanged."""

    owner_user_id: Owner = None
    priority: Priority = None
    tags: Tags = []
    notes: Notes = None
    estimated_value: Estimated = None
    rank: Annotated[int, whole(0, 10**15), Field(description="Position in your own order.")] = 0
    decline_reason: Reason = None
    move: Annotated[
        Literal["review", "pursue", "submit", "win", "lose", "appeal", "decline", "reopen"] | None,
        Field(description="Move to make."),
    ] = None
    after: Annotated[UUID | None, Field(description="Saved tender to place it after.")] = None
    acknowledge: Annotated[
        AcknowledgeAmendment | None, Field(description="Amendment that you have reviewed.")
    ] = None


class AttentionView(View):
    """Something on the board that needs attention."""

    code: Annotated[Literal["amended", "tender_ended"], Field(description="What needs attention.")]
    amendment_number: Annotated[int | None, Field(description="Amendment that caused it.")]
    since: Annotated[datetime, Field(description="When it happened.")]


class SavedView(Stored):
    """A tender on the board."""

    organization_id: Annotated[UUID, Field(description="Your organization.")]
    tender_opportunity_id: Annotated[UUID, Field(description="ID of the tender.")]
    title: Annotated[str, Field(description="Title of the tender.")]
    tender_number: Annotated[str, Field(description="Number of the tender.")]
    closing_at: Annotated[datetime | None, Field(description="Closing time of the tender.")]
    stage: Annotated[Stage, Field(description="Stage on the board.")]
    stage_changed_at: Annotated[datetime, Field(description="When the stage changed.")]
    owner_user_id: Owner
    priority: Annotated[int | None, Field(description="Priority, 1 is the highest.")]
    tags: Annotated[list[str], Field(description="Your own tags.")]
    notes: Annotated[str | None, Field(description="Your notes.")]
    estimated_value: Estimated
    rank: Annotated[int, Field(description="Position in your own order.")]
    decline_reason: Reason
    led_by: Annotated[
        Literal["organization", "bid"], Field(description="Who moves it: you, or the bid.")
    ]
    bid_workspace_id: Annotated[UUID | None, Field(description="Workspace of the bid.")]
    attention: Annotated[list[AttentionView], Field(description="What needs attention.")]
    next_deadline: Annotated[datetime | None, Field(description="Next deadline of the tender.")]
    allowed_moves: Annotated[list[AllowedMove], Field(description="Possible moves.")]

    @classmethod
    def of(cls, row: SavedOpportunity, tender: TenderOpportunity, now: datetime) -> "SavedView":
        minor, currency = row.estimated_minor, row.estimated_currency
        values: dict[str, Any] = row.__dict__ | {
            "title": tender.title,
            "tender_number": tender.tender_number,
            "closing_at": tender.closing_at,
            "estimated_value": Money(minor, currency) if minor is not None and currency else None,
            "next_deadline": row.next_deadline_at,
            "allowed_moves": SavedOpportunityLifecycle.allowed(row, now),
        }
        return cls.model_validate({name: values[name] for name in cls.model_fields})


class StageTotalView(View):
    """A column of the board."""

    stage: Annotated[Stage, Field(description="Stage.")]
    count: Annotated[int, Field(description="Tenders in this stage.")]
    estimated_total: Annotated[Money, Field(description="Sum of their estimated values.")]

    @classmethod
    def of(cls, total: StageTotal) -> "StageTotalView":
        return cls(
            stage=total.stage,
            count=total.count,
            estimated_total=Money(total.estimated_minor, "ZAR"),
        )


class SavedPage(PageOf[SavedView]):
    """One page of the board."""

    board: Annotated[
        list[StageTotalView] | None,
        Field(description="Columns of the board. Null after the first page."),
    ]


@router.post(
    "/organizations/{organizationId}/saved-opportunities",
    status_code=201,
    responses=problems(Duplicate, RuleViolated),
)
async def add_saved_opportunity(
    body: SaveOpportunity,
    work: Annotated[Work, writes(Permission.SAVED_OPPORTUNITY_MANAGE)],
) -> SavedView:
    """Put a tender on your board. You are reminded of its deadlines."""
    fields = {
        name: getattr(body, name)
        for name in type(body).model_fields
        if name not in ("tender_opportunity_id", "stage")
    }
    row = await board.save(
        work, body.tender_opportunity_id, board.estimated(fields), stage=Stage(body.stage)
    )
    return SavedView.of(row, await work.get(TenderOpportunity, row.tender_opportunity_id), work.now)


@router.get("/organizations/{organizationId}/saved-opportunities")
async def list_saved_opportunities(
    read: Annotated[Reader, reads(Permission.SAVED_OPPORTUNITY_READ)],
    page: Annotated[Paged, paged("rank", "nextDeadline", "updatedAt")],
    stage: Annotated[Stage | None, Query(description="Filter by stage.")] = None,
    owner_user_id: Annotated[
        UUID | None, Query(alias="ownerUserId", description="Filter by responsible colleague.")
    ] = None,
    tag: Annotated[str | None, text(1, 40), Query(description="Filter by tag.")] = None,
    attention: Annotated[
        bool | None, Query(description="Filter by whether it needs attention.")
    ] = None,
    closing_to: Annotated[
        Instant | None, Query(alias="closingTo", description="Closing at or before this time.")
    ] = None,
) -> SavedPage:
    """List your board in your own order. The first page includes the column totals."""
    filters = SavedFilters(
        stage=stage,
        owner_user_id=owner_user_id,
        tag=tag,
        attention=attention,
        closing_to=closing_to,
    )
    found = await board.list_saved(read, page, filters)
    tenders = await board.tenders_of(read, found.items)
    totals = None if page.cursor else await board.board_of(read)
    views = [SavedView.of(one, tenders[one.tender_opportunity_id], read.now) for one in found.items]
    return SavedPage.model_construct(
        items=views,
        next_cursor=found.next_cursor,
        board=None if totals is None else [StageTotalView.of(one) for one in totals],
    )


@router.get("/organizations/{organizationId}/saved-opportunities/{savedOpportunityId}")
async def get_saved_opportunity(
    saved_opportunity_id: SavedId,
    read: Annotated[Reader, reads(Permission.SAVED_OPPORTUNITY_READ)],
) -> SavedView:
    """Retrieve a tender on your board."""
    row = await board.get_saved(read, saved_opportunity_id)
    return SavedView.of(row, await read.get(TenderOpportunity, row.tender_opportunity_id), read.now)


@router.patch(
    "/organizations/{organizationId}/saved-opportunities/{savedOpportunityId}",
    responses=problems(StageLedByBid, InvalidTransition, Conflict, RuleViolated),
)
async def change_saved_opportunity(
    saved_opportunity_id: SavedId,
    body: ChangeSaved,
    work: Annotated[Work, writes(Permission.SAVED_OPPORTUNITY_MANAGE)],
) -> SavedView:
    """Change or move a tender on your board. Once a bid is prepared, the bid moves it."""
    fields = body.changes()
    move, seen = fields.pop("move", None), fields.pop("acknowledge", None)
    row = await board.change_saved(
        work,
        saved_opportunity_id,
        board.estimated(fields),
        move=move,
        acknowledge=None if seen is None else seen.amendment_number,
    )
    return SavedView.of(row, await work.get(TenderOpportunity, row.tender_opportunity_id), work.now)
