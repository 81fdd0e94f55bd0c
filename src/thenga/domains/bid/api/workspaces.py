"""Workspaces of bids."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field

from thenga.domains.bid.api.parameters import EntryKey, WorkspaceId
from thenga.domains.bid.api.references import BidReferenceBody
from thenga.domains.bid.api.workspace_views import BidWorkspaceCard, BidWorkspaceView, TeamRole
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.public import NoBidReason
from thenga.domains.bid.services import amendments, opening, outcomes, overview, workspaces
from thenga.domains.bid.services.amendments import (
    BidEffectsOpen,
    BidNewerAmendment,
    Reconfirmation,
)
from thenga.domains.bid.services.workspaces import (
    BidPersonUnknown,
    BidTenderNotOpen,
    BidTenderUnknown,
    WorkspaceFilters,
)
from thenga.domains.bid.tables import Workspace, WorkspaceStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Conflict,
    DependencyUnavailable,
    Duplicate,
    FileNotClean,
    InvalidTransition,
    PlanLimitReached,
    RuleViolated,
)
from thenga.kernel.http.bodies import Body, PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, Percent, lines, matching, text, whole

router = make_router("Bid / Workspaces")

_PARTS = "plan|tasks|drafts|matrix|forms|approvals|pack|outcome|ripples"
Include = Annotated[
    Annotated[str, matching(f"^({_PARTS})(,({_PARTS})){{0,8}}$", 80)] | None,
    Query(
        description="Parts to include, separated by commas: plan, tasks, drafts, matrix, forms, "
        "approvals, pack, outcome, ripples."
    ),
]


class BidTeamMember(Body):
    """A person in the team."""

    roles: Annotated[list[TeamRole], Field(max_length=7, description="Roles in this bid.")] = []
    price: Annotated[bool, Field(description="Whether the person can see prices.")] = False


class BidderBody(Body):
    """One of the joint bidders."""

    lead: Annotated[
        bool, Field(description="Whether it is the lead bidder. Exactly one must be.")
    ] = False
    ref: Annotated[
        BidReferenceBody | None, Field(description="Organization, if on the platform.")
    ] = None
    name: Annotated[
        Annotated[str, text(1, 200)] | None, Field(description="Name, if not on the platform.")
    ] = None
    share_percent: Annotated[Percent | None, Field(description="Share in per cent.")] = None


Access = Annotated[Literal["team", "organization"], Field(description="Who can see the whole bid.")]


class OpenBidWorkspace(Body):
    """A tender to bid on, or a contract won outside the platform."""

    tender_opportunity_id: Annotated[
        UUID | None, Field(description="Tender to bid on. Each tender has one workspace.")
    ] = None
    origin: Annotated[
        Literal["platform", "outside_platform"],
        Field(
            description="`outside_platform` needs buyer, reference and title instead of a tender."
        ),
    ] = "platform"
    buyer_name: Annotated[
        Annotated[str, text(1, 200)] | None, Field(description="Buyer outside the platform.")
    ] = None
    external_reference: Annotated[
        Annotated[str, text(1, 100)] | None, Field(description="Reference of the buyer.")
    ] = None
    title: Annotated[
        Annotated[str, text(1, 160)] | None, Field(description="Title. Defaults to the tender's.")
    ] = None
    bid_manager_user_id: Annotated[
        UUID | None, Field(description="Person who leads the bid. Defaults to you.")
    ] = None
    access: Access = "team"
    envelopes: Annotated[
        Literal["single", "two"] | None, Field(description="Envelopes. Defaults to the tender's.")
    ] = None
    team: Annotated[
        dict[UUID, BidTeamMember], Field(max_length=50, description="Team by user ID.")
    ] = {}
    bidders: Annotated[
        dict[EntryKey, BidderBody],
        Field(max_length=8, description="Joint bidders by key. Defaults to your organization."),
    ] = {}


class ReconfirmBid(Body):
    """Decision on the bid after an amendment."""

    amendment_number: Annotated[
        int, whole(0, 100_000), Field(description="Newest amendment of the tender.")
    ]
    decision: Annotated[
        Literal["proceed", "resubmit", "no_bid"],
        Field(description="`resubmit` reopens a submitted bid, `no_bid` ends it."),
    ]
    acknowledged: Annotated[
        list[Annotated[str, text(1, 100)]],
        Field(max_length=600, description="Keys of all open effects."),
    ]
    note: Annotated[Annotated[str, lines(1, 1000)] | None, Field(description="Note.")] = None


class ChangeBidWorkspace(Body):
    """Fields to update, one move or a reconfirmation. Omitted fields stay unchanged."""

    title: Annotated[str, text(1, 160), Field(description="Title of the bid.")] = "unchanged"
    bid_manager_user_id: Annotated[
        UUID, Field(description="Person who leads the bid and always sees prices.")
    ] = UUID(int=0)
    access: Access = "team"
    envelopes: Annotated[Literal["single", "two"], Field(description="Envelopes of the bid.")] = (
        "single"
    )
    team: Annotated[
        dict[UUID, BidTeamMember | None],
        Field(max_length=50, description="People to add or change. Null removes one."),
    ] = {}
    bidders: Annotated[
        dict[EntryKey, BidderBody | None],
        Field(max_length=8, description="Bidders to add or change. Null removes one."),
    ] = {}
    move: Annotated[
        Literal["no_bid", "resume", "withdraw"] | None, Field(description="Move to make.")
    ] = None
    reason_code: Annotated[
        NoBidReason | None, Field(description="Reason for not bidding. Required for `no_bid`.")
    ] = None
    reason: Annotated[
        Annotated[str, lines(1, 1000)] | None, Field(description="Reason. Required to withdraw.")
    ] = None
    file_id: Annotated[
        UUID | None, Field(description="Letter of withdrawal: a clean file of this bid.")
    ] = None
    accept_consequences: Annotated[
        bool,
        Field(description="True to withdraw after the closing date, when the offer is binding."),
    ] = False
    reconfirm: Annotated[ReconfirmBid | None, Field(description="Decision after an amendment.")] = (
        None
    )


_OF_MOVES = frozenset(("reason_code", "reason", "file_id", "accept_consequences"))


@router.post(
    "/bids/workspaces",
    status_code=201,
    responses=problems(
        Duplicate,
        BidTenderUnknown,
        BidTenderNotOpen,
        BidPersonUnknown,
        PlanLimitReached,
        DependencyUnavailable,
        RuleViolated,
    ),
)
async def open_bid_workspace(
    body: OpenBidWorkspace, work: Annotated[Work, writes(Permission.WORKSPACE_CREATE)]
) -> BidWorkspaceView:
    """Open the workspace of a tender, with its matrix, its forms and a draft plan.

    Each tender has one workspace. The tender must be open; if Opportunity does not respond, nothing
    is stored.
    """
    fields = {name: getattr(body, name) for name in type(body).model_fields}
    workspace = await opening.open_workspace(work, _columns(fields))
    found = await overview.describe(work, workspace, {"plan", "matrix", "forms"})
    return BidWorkspaceView.shown_as(found, work.now)


@router.get("/bids/workspaces")
async def list_bid_workspaces(
    read: Annotated[Reader, reads(Permission.WORKSPACE_READ)],
    page: Annotated[Paged, paged("closingAt", "createdAt", default="-createdAt")],
    status: Annotated[WorkspaceStatus | None, Query(description="Filter by status.")] = None,
    bid_manager_user_id: Annotated[
        UUID | None, Query(alias="bidManagerUserId", description="Filter by bid manager.")
    ] = None,
    mine: Annotated[
        bool | None, Query(description="Filter by whether you are in the team.")
    ] = None,
    closing_from: Annotated[
        Instant | None, Query(alias="closingFrom", description="Closing at or after this time.")
    ] = None,
    closing_to: Annotated[
        Instant | None, Query(alias="closingTo", description="Closing at or before this time.")
    ] = None,
    reconfirmation: Annotated[
        bool | None, Query(description="Filter by whether the bid must be reconfirmed.")
    ] = None,
    tender_opportunity_id: Annotated[
        UUID | None, Query(alias="tenderOpportunityId", description="Filter by tender.")
    ] = None,
) -> PageOf[BidWorkspaceCard]:
    """List the bids of your organization as cards, without amounts."""
    filters = WorkspaceFilters(
        status=status,
        bid_manager_user_id=bid_manager_user_id,
        mine=mine,
        closing_from=closing_from,
        closing_to=closing_to,
        reconfirmation=reconfirmation,
        tender_opportunity_id=tender_opportunity_id,
    )
    found = await workspaces.list_workspaces(read, page, filters)
    return PageOf[BidWorkspaceCard].of(found, lambda one: BidWorkspaceCard.of_row(one, read.now))


@router.get("/bids/workspaces/{workspaceId}")
async def get_bid_workspace(
    workspace_id: WorkspaceId,
    read: Annotated[Reader, reads(Permission.WORKSPACE_READ)],
    include: Include = None,
) -> BidWorkspaceView:
    """Retrieve a bid with its team, the state of its tender and the parts you include."""
    workspace = await workspaces.seen_workspace(read, workspace_id)
    wanted = set() if include is None else set(include.split(","))
    found = await overview.describe(read, workspace, wanted)
    return BidWorkspaceView.shown_as(found, read.now)


@router.patch(
    "/bids/workspaces/{workspaceId}",
    responses=problems(
        BidNewerAmendment,
        BidEffectsOpen,
        BidPersonUnknown,
        FileNotClean,
        InvalidTransition,
        Conflict,
        RuleViolated,
    ),
)
async def change_bid_workspace(
    workspace_id: WorkspaceId,
    body: ChangeBidWorkspace,
    work: Annotated[Work, writes(Permission.WORKSPACE_UPDATE, if_match=True)],
) -> BidWorkspaceView:
    """Change a bid, decide not to bid, withdraw it, or reconfirm it after an amendment.

    A reconfirmation names the newest amendment and every open effect. With the permission to
    govern, people outside the team can change team, manager and access.
    """
    workspace = await work.lock(Workspace, workspace_id)
    fields = body.changes()
    move, reconfirm = fields.pop("move", None), fields.pop("reconfirm", None)
    plain = {name: one for name, one in fields.items() if name not in _OF_MOVES}
    if (move is not None) + (reconfirm is not None) + bool(plain) > 1:
        raise RuleViolated("Send only one of fields, a move or a reconfirmation.", rule="BID-50")
    if reconfirm is not None:
        workspaces.check_needs(work, workspace, ())
        await workspaces.demand(work, Permission.WORKSPACE_RECONFIRM)
        await amendments.reconfirm(work, workspace, _reconfirmation(body, reconfirm))
    elif move is not None:
        workspaces.check_needs(work, workspace, ())
        await workspaces.demand(work, Permission.WORKSPACE_WITHDRAW)
        await _move(work, workspace, body, move)
    else:
        await workspaces.change(work, workspace, _columns(plain))
    found = await overview.describe(work, workspace, set())
    return BidWorkspaceView.shown_as(found, work.now)


async def _move(work: Work, workspace: Workspace, body: ChangeBidWorkspace, move: str) -> None:
    if move == "no_bid":
        await workspaces.decline(work, workspace, code=body.reason_code, text=body.reason)
    elif move == "resume":
        await workspaces.resume(work, workspace)
    else:
        await outcomes.withdraw(
            work,
            workspace,
            reason=body.reason,
            file_id=body.file_id,
            accept_consequences=body.accept_consequences,
        )


def _reconfirmation(body: ChangeBidWorkspace, asked: ReconfirmBid) -> Reconfirmation:
    return Reconfirmation(
        amendment_number=asked.amendment_number,
        decision=asked.decision,
        acknowledged=frozenset(asked.acknowledged),
        note=asked.note,
        reason=body.reason,
        file_id=body.file_id,
        accept_consequences=body.accept_consequences,
    )


def _columns(fields: dict[str, Any]) -> dict[str, Any]:
    """Maps as they are stored."""
    if "team" in fields:
        fields["team"] = {
            str(key): None if one is None else one.model_dump(mode="json")
            for key, one in fields["team"].items()
        }
    if "bidders" in fields:
        fields["bidders"] = {
            key: None if one is None else one.model_dump(mode="json", by_alias=True)
            for key, one in fields["bidders"].items()
        }
    return fields
