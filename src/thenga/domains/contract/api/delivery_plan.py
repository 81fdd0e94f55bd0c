"""Delivery plan of a contract."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from fastapi.responses import Response
from pydantic import Field

from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.lifecycles import PlanLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import delivery
from thenga.domains.contract.services.delivery import GivenPlan, PlanCyclic, PlanPercent, Slip
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.services.workspaces import ContractOver, NeedsVariation
from thenga.domains.contract.tables import PlanRevision, PlanStatus
from thenga.domains.contract.values.plans import (
    Dependency,
    PlannedDeliverable,
    PlannedMilestone,
    plan_of_rows,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Forbidden, PreconditionRequired, RuleViolated, StaleVersion
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, decimal, lines, matching, text, whole
from thenga.kernel.values.json_writer import to_json

router = make_router("Contract / Delivery plan")

Key = Annotated[str, matching("^[A-Z0-9-]{1,16}$", 16)]
FourPlaces = Annotated[Decimal, decimal(3, 4)]
Kind = Literal["delivery", "approval", "reporting", "financing"]
Calendar = Literal["working", "calendar"]
Technique = Literal["zero_hundred", "fifty_fifty", "percent_complete"]


class DependencyBody(Body):
    """A milestone that must end first."""

    key: Annotated[Key, Field(description="Key of the milestone.")]
    lag_days: Annotated[
        Annotated[int, whole(0, 365)], Field(description="Days to wait after its end.")
    ] = 0


class DeliverableBody(Body):
    """A deliverable of a milestone."""

    key: Annotated[Key, Field(description="Key within the milestone.")]
    title: Annotated[str, text(1, 200), Field(description="Title.")]
    acceptance_criteria: Annotated[
        Annotated[str, lines(1, 4000)] | None, Field(description="Acceptance criteria.")
    ] = None
    due_on: Annotated[Day | None, Field(description="Due date.")] = None
    weight: Annotated[
        Annotated[Decimal, decimal(6, 4)], Field(description="Weight within the milestone.")
    ] = Decimal(1)
    required: Annotated[bool, Field(description="Whether it is required.")] = True


class MilestoneBody(Body):
    """One milestone of the plan."""

    key: Annotated[Key, Field(description="Key, the same in all revisions.")]
    title: Annotated[str, text(1, 200), Field(description="Title.")]
    kind: Annotated[Kind, Field(description="Kind of milestone.")] = "delivery"
    value_percent: Annotated[FourPlaces, Field(description="Share of the contract value.")]
    start_not_before: Annotated[Day | None, Field(description="Earliest start date.")] = None
    duration_days: Annotated[Annotated[int, whole(0, 1500)], Field(description="Duration in days.")]
    calendar: Annotated[Calendar, Field(description="Working or calendar days.")] = "working"
    due_on: Annotated[Day, Field(description="Due date under the contract.")]
    technique: Annotated[Technique, Field(description="Method of measuring progress.")] = (
        "zero_hundred"
    )
    depends_on: Annotated[
        list[DependencyBody], Field(max_length=20, description="Milestones that must end first.")
    ] = []
    practical_completion: Annotated[bool, Field(description="Part of practical completion.")] = (
        False
    )
    deliverables: Annotated[
        list[DeliverableBody], Field(max_length=50, description="Deliverables.")
    ] = []

    def to_planned(self) -> PlannedMilestone:
        given = self.model_dump(exclude={"depends_on", "deliverables"})
        return PlannedMilestone(
            **given,
            depends_on=tuple(Dependency(one.key, one.lag_days) for one in self.depends_on),
            deliverables=tuple(PlannedDeliverable(**one.model_dump()) for one in self.deliverables),
        )


class WriteDeliveryPlan(Body):
    """A complete plan. It replaces the draft or becomes the next baseline."""

    milestones: Annotated[
        list[MilestoneBody], Field(min_length=1, max_length=200, description="All milestones.")
    ]
    reason: Annotated[
        Annotated[str, lines(1, 1000)] | None,
        Field(description="Reason for the change. Required from the second baseline on."),
    ] = None
    baseline: Annotated[
        bool, Field(description="Whether to measure delivery against it from now on.")
    ] = False


class DependencyView(View):
    """A milestone that must end first."""

    key: Annotated[str, Field(description="Key of the milestone.")]
    lag_days: Annotated[int, Field(description="Days to wait after its end.")]


class PlannedDeliverableView(View):
    """A deliverable of a milestone."""

    key: Annotated[str, Field(description="Key within the milestone.")]
    title: Annotated[str, Field(description="Title.")]
    acceptance_criteria: Annotated[str | None, Field(description="Acceptance criteria.")]
    due_on: Annotated[date | None, Field(description="Due date.")]
    weight: Annotated[Decimal, Field(description="Weight within the milestone.")]
    required: Annotated[bool, Field(description="Whether it is required.")]


class PlannedMilestoneView(View):
    """One milestone of the plan."""

    key: Annotated[str, Field(description="Key, the same in all revisions.")]
    title: Annotated[str, Field(description="Title.")]
    kind: Annotated[Kind, Field(description="Kind of milestone.")]
    value_percent: Annotated[Decimal, Field(description="Share of the contract value.")]
    start_not_before: Annotated[date | None, Field(description="Earliest start date.")]
    duration_days: Annotated[int, Field(description="Duration in days.")]
    calendar: Annotated[Calendar, Field(description="Working or calendar days.")]
    due_on: Annotated[date, Field(description="Due date.")]
    technique: Annotated[Technique, Field(description="Method of measuring progress.")]
    depends_on: Annotated[
        list[DependencyView], Field(description="Milestones that must end first.")
    ]
    practical_completion: Annotated[bool, Field(description="Part of practical completion.")]
    deliverables: Annotated[list[PlannedDeliverableView], Field(description="Deliverables.")]


class PlanSlipView(View):
    """Change of a due date between two revisions."""

    key: Annotated[str, Field(description="Key of the milestone.")]
    due_on: Annotated[date | None, Field(description="Due date in this plan.")]
    other_due_on: Annotated[date | None, Field(description="Due date in the other plan.")]
    days: Annotated[
        int | None, Field(description="Calendar days later. Null if only one plan has it.")
    ]


class DeliveryPlanView(Stored):
    """One revision of the delivery plan."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Contract of the plan.")]
    number: Annotated[int, Field(description="Number of the revision.")]
    status: PlanStatus
    reason: Annotated[str | None, Field(description="Reason for the change.")]
    variation_id: Annotated[UUID | None, Field(description="Variation that created it.")]
    milestones: Annotated[list[PlannedMilestoneView], Field(description="All milestones.")]
    finish_on: Annotated[date, Field(description="Last due date.")]
    content_hash: Annotated[str, Field(description="SHA-256 of the content.")]
    warnings: Annotated[list[str], Field(description="Warning codes.")]
    slips: Annotated[
        list[PlanSlipView] | None, Field(description="Comparison with `compareTo`, if requested.")
    ]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return (
            f"{PREFIX}/contracts/workspaces/{self.workspace_id}/delivery-plan?number={self.number}"
        )


@router.post(
    "/contracts/workspaces/{workspaceId}/delivery-plan",
    status_code=201,
    responses=problems(
        RuleViolated,
        *(PlanPercent, PlanCyclic, NeedsVariation, ContractOver, ContractNotActive),
        *(PreconditionRequired, StaleVersion, Forbidden),
    )
    | {200: {"model": DeliveryPlanView, "description": "The draft was replaced."}},
)
async def write_delivery_plan(
    workspace_id: WorkspaceId,
    body: WriteDeliveryPlan,
    work: Annotated[Work, writes(Permission.PLAN_WRITE)],
) -> DeliveryPlanView:
    """Store a draft of the plan, or baseline it with `baseline: true`.

    To replace an existing draft, send `If-Match`; the response is then 200. The percentages of a
    baseline must add up to exactly 100. From the second baseline on, only a variation can change
    due dates and amounts.
    """
    given = GivenPlan([one.to_planned() for one in body.milestones], body.reason, body.baseline)
    plan, is_new = await delivery.write_plan(work, workspace_id, given)
    view = _view(plan, work)
    return view if is_new else Response(to_json(view), media_type="application/json")  # type: ignore[return-value]  # the door sends it as it is


@router.get("/contracts/workspaces/{workspaceId}/delivery-plan")
async def get_delivery_plan(
    workspace_id: WorkspaceId,
    read: Annotated[Reader, reads(Permission.PLAN_READ)],
    number: Annotated[
        int | None,
        Query(ge=1, le=100_000, description="Number of the revision. Defaults to the newest."),
    ] = None,
    compare_to: Annotated[
        int | None,
        Query(alias="compareTo", ge=1, le=100_000, description="Revision to compare with."),
    ] = None,
) -> DeliveryPlanView:
    """Get a revision of the plan, optionally compared with another one."""
    plan = await delivery.get_plan(read, workspace_id, number)
    slips = None
    if compare_to is not None:
        other = await delivery.get_plan(read, workspace_id, compare_to)
        slips = delivery.compare(plan, other)
    return _view(plan, read, slips)


def _view(plan: PlanRevision, read: Reader, slips: list[Slip] | None = None) -> DeliveryPlanView:
    more = {
        "milestones": plan_of_rows(plan.milestones),
        "slips": slips,
        "allowed_moves": PlanLifecycle.allowed(plan, read.now),
    }
    return DeliveryPlanView.model_validate(plan.__dict__ | more)
