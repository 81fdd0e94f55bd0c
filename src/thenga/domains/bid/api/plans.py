"""Plans of bids."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.bid.api.parameters import EntryKey, WorkspaceId
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import planning, workspaces
from thenga.domains.bid.services.planning import BidMilestoneAfterClosing, Milestone
from thenga.domains.bid.services.workspaces import (
    BidAlreadySubmitted,
    BidPersonNotInTeam,
    BidPersonUnknown,
    BidSealed,
)
from thenga.domains.bid.tables import Plan, PlanStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Conflict, RuleViolated
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Instant, matching, text, whole

router = make_router("Bid / Plans")


class PlanMilestone(Body):
    """A milestone, due some working days before the closing date or at a set time."""

    title: Annotated[str, text(1, 160), Field(description="Title.")]
    days_before: Annotated[
        Annotated[int, whole(0, 60)] | None,
        Field(description="Working days before the closing date, not counting that date."),
    ] = None
    due_at: Annotated[Instant | None, Field(description="Due time.")] = None
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible.")] = None


class MakeBidPlan(Body):
    """A new revision of the plan."""

    template: Annotated[
        Literal["standard"], Field(description="Template to use without milestones.")
    ] = "standard"
    milestones: Annotated[
        dict[EntryKey, PlanMilestone] | None,
        Field(min_length=1, max_length=30, description="Milestones by key."),
    ] = None
    due_time: Annotated[
        str,
        matching("^([01][0-9]|2[0-3]):[0-5][0-9]$", 5),
        Field(description="Local time of day at which milestones are due."),
    ] = "16:00"
    baseline: Annotated[bool, Field(description="Whether to put the plan in force at once.")] = (
        False
    )


class BidMilestoneView(View):
    """A milestone with its due time and state."""

    key: Annotated[str, Field(description="Key of the milestone.")]
    title: Annotated[str, Field(description="Title.")]
    days_before: Annotated[int | None, Field(description="Working days before the closing date.")]
    due_at: Annotated[datetime, Field(description="Due time.")]
    owner_user_id: Annotated[UUID | None, Field(description="Person responsible.")]
    source: Annotated[
        Literal["own", "tender"], Field(description="`tender` for dates that the buyer set.")
    ]
    state: Annotated[Literal["upcoming", "late", "met"], Field(description="Current state.")]


class BidPlanView(Stored):
    """The newest revision of a plan."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    revision: Annotated[int, Field(description="Revision number.")]
    template: Annotated[str, Field(description="Template used.")]
    due_time: Annotated[str, Field(description="Local time of day at which milestones are due.")]
    closing_at: Annotated[datetime | None, Field(description="Closing time of the plan.")]
    status: PlanStatus
    milestones: Annotated[list[BidMilestoneView], Field(description="Milestones, earliest first.")]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/workspaces/{self.workspace_id}/plan"

    @classmethod
    def of(cls, plan: Plan, milestones: list[Milestone]) -> "BidPlanView":
        shown = [BidMilestoneView.model_validate(one, from_attributes=True) for one in milestones]
        return cls.model_validate(plan.__dict__ | {"milestones": shown})


@router.post(
    "/bids/workspaces/{workspaceId}/plan",
    status_code=201,
    responses=problems(
        BidMilestoneAfterClosing,
        BidPersonUnknown,
        BidPersonNotInTeam,
        BidSealed,
        BidAlreadySubmitted,
        Conflict,
        RuleViolated,
    ),
)
async def make_bid_plan(
    workspace_id: WorkspaceId,
    body: MakeBidPlan,
    work: Annotated[Work, writes(Permission.PLAN_WRITE)],
) -> BidPlanView:
    """Plan backwards from the closing date, in South African working days.

    Without milestones, the standard template is used. A new revision replaces the previous draft.
    """
    milestones: dict[str, dict[str, Any]] | None = None
    if body.milestones is not None:
        milestones = {key: one.model_dump() for key, one in body.milestones.items()}
    plan = await planning.make_plan(
        work, workspace_id, milestones=milestones, due_time=body.due_time, baseline=body.baseline
    )
    workspace = await workspaces.seen_workspace(work, workspace_id)
    return BidPlanView.of(plan, await planning.milestones_of(work, workspace, plan))


@router.get("/bids/workspaces/{workspaceId}/plan")
async def get_bid_plan(
    workspace_id: WorkspaceId, read: Annotated[Reader, reads(Permission.WORKSPACE_READ)]
) -> BidPlanView:
    """Retrieve the newest revision of the plan."""
    workspace = await workspaces.seen_workspace(read, workspace_id)
    plan = await planning.get_plan(read, workspace_id)
    return BidPlanView.of(plan, await planning.milestones_of(read, workspace, plan))
