"""Milestones of contracts."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.contract.api.deliverables import DeliverableView, MoveReason
from thenga.domains.contract.api.proofs import (
    ContractReference,
    ContractReferenceView,
    DocumentProof,
)
from thenga.domains.contract.lifecycles import MilestoneLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import delivery
from thenga.domains.contract.services.delivery import (
    DeliveryMove,
    MilestoneFilters,
    MilestoneIncomplete,
)
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.services.workspaces import (
    ConfirmationMissing,
    ContractOver,
    NeedsVariation,
)
from thenga.domains.contract.tables import Milestone, MilestoneStatus
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Forbidden, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, Percent, lines
from thenga.kernel.values.money import Money

router = make_router("Contract / Milestones")

MilestoneId = Annotated[UUID, Path(alias="milestoneId", description="ID of the milestone.")]


class MoveMilestone(Body):
    """A move of a milestone."""

    verb: Annotated[
        Literal["start", "submit", "accept", "accept_partly", "reject", "waive"],
        Field(description="Move to make. Decisions of the buyer need a confirmation."),
    ]
    reason: MoveReason = None
    confirmation: Annotated[
        DocumentProof | None, Field(description="What shows the decision of the buyer.")
    ] = None


class ChangeMilestone(Body):
    """Progress of a milestone, and at most one move."""

    percent_complete: Annotated[Percent, Field(description="How far the work is.")] = Decimal(0)
    forecast_on: Annotated[Day | None, Field(description="Day on which it is expected.")] = None
    started_on: Annotated[Day | None, Field(description="Day on which work began.")] = None
    evidence_refs: Annotated[
        list[ContractReference], Field(max_length=50, description="Documents. Replaces all.")
    ] = []
    note: Annotated[Annotated[str, lines(1, 4000)] | None, Field(description="Your note.")] = None
    move: Annotated[MoveMilestone | None, Field(description="Move to make.")] = None


class AtRiskView(View):
    """Whether a milestone is at risk, and why."""

    reasons: Annotated[
        list[str], Field(description="`forecast_late`, `behind` or `risk`. Empty if it is not.")
    ]


class MilestoneView(Stored):
    """A milestone with its deliverables."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Contract of the milestone.")]
    key: Annotated[str, Field(description="Key in the plan.")]
    title: Annotated[str, Field(description="What is reached.")]
    kind: Annotated[str, Field(description="Kind of milestone.")]
    value_percent: Annotated[Decimal, Field(description="Share of the contract value.")]
    amount: Annotated[Money, Field(description="Amount, VAT included.")]
    billed: Annotated[Money, Field(description="Amount that was billed.")]
    accepted_percent: Annotated[Decimal, Field(description="Share that can be invoiced.")]
    start_not_before: Annotated[date | None, Field(description="Earliest start.")]
    duration_days: Annotated[int, Field(description="Days it takes.")]
    due_on: Annotated[date, Field(description="Day on which it is due.")]
    practical_completion: Annotated[bool, Field(description="Part of practical completion.")]
    percent_complete: Annotated[Decimal, Field(description="How far the work is.")]
    forecast_on: Annotated[date | None, Field(description="Day on which it is expected.")]
    started_on: Annotated[date | None, Field(description="Day on which work began.")]
    evidence_refs: Annotated[list[ContractReferenceView], Field(description="Documents.")]
    note: Annotated[str | None, Field(description="Note.")]
    status: MilestoneStatus
    status_reason: Annotated[str | None, Field(description="Reason of the last move.")]
    overdue: Annotated[bool, Field(description="Whether the due date has passed.")]
    at_risk: Annotated[AtRiskView, Field(description="Why it is at risk.")]
    days_late: Annotated[int, Field(description="Calendar days after the due date.")]
    met_on: Annotated[date | None, Field(description="Day of acceptance.")]
    missing: Annotated[list[str], Field(description="Deliverables missing at acceptance.")]
    confirmation_id: Annotated[UUID | None, Field(description="What shows the decision.")]
    plan_number: Annotated[int, Field(description="Baseline that it follows.")]
    deliverables: Annotated[list[DeliverableView], Field(description="What it needs.")]
    allowed_moves: list[AllowedMove]


@router.get("/contracts/milestones")
async def list_milestones(
    read: Annotated[Reader, reads(Permission.MILESTONE_READ)],
    page: Annotated[Paged, paged("dueOn", "createdAt", default="dueOn")],
    workspace_id: Annotated[
        UUID | None, Query(alias="workspaceId", description="Filter by contract.")
    ] = None,
    status: Annotated[MilestoneStatus | None, Query(description="Filter by status.")] = None,
    overdue: Annotated[bool | None, Query(description="Only overdue ones, or only others.")] = None,
    at_risk: Annotated[
        bool | None, Query(alias="atRisk", description="Only those at risk, or only others.")
    ] = None,
    due_before: Annotated[
        Day | None, Query(alias="dueBefore", description="Due before this day.")
    ] = None,
) -> PageOf[MilestoneView]:
    """List milestones with their deliverables, the first due first."""
    filters = MilestoneFilters(workspace_id, status, overdue, at_risk, due_before)
    found = await delivery.list_milestones(read, page, filters)
    views = await _views(read, found.items)
    return PageOf[MilestoneView].of(found, lambda one: views[one.id])


@router.get("/contracts/milestones/{milestoneId}")
async def get_milestone(
    milestone_id: MilestoneId, read: Annotated[Reader, reads(Permission.MILESTONE_READ)]
) -> MilestoneView:
    """Get a milestone with its deliverables."""
    milestone = await read.get(Milestone, milestone_id)
    return (await _views(read, [milestone]))[milestone.id]


@router.patch(
    "/contracts/milestones/{milestoneId}",
    responses=problems(
        *(MilestoneIncomplete, ConfirmationMissing, ContractOver, ContractNotActive),
        *(NeedsVariation, InvalidTransition, RuleViolated, Forbidden),
    ),
)
async def change_milestone(
    milestone_id: MilestoneId,
    body: ChangeMilestone,
    work: Annotated[Work, writes(Permission.MILESTONE_UPDATE)],
) -> MilestoneView:
    """Track a milestone and make at most one move.

    `accept`, `accept_partly` and `reject` record what the buyer decided and need `confirmation`.
    The day of the confirmation counts for lateness.
    """
    fields: dict[str, Any] = body.changes()
    asked = fields.pop("move", None)
    if "evidence_refs" in fields:
        fields["evidence_refs"] = [one.to_row() for one in body.evidence_refs]
    move = None
    if asked is not None:
        proof = None if asked.confirmation is None else asked.confirmation.to_proof()
        move = DeliveryMove(asked.verb, asked.reason, proof)
    milestone = await delivery.change_milestone(work, milestone_id, fields=fields, move=move)
    return (await _views(work, [milestone]))[milestone.id]


async def _views(read: Reader, milestones: Sequence[Milestone]) -> dict[UUID, MilestoneView]:
    """The views of a page, with one question each for deliverables and risks."""
    parts = await delivery.deliverables_of(read, [one.id for one in milestones])
    states = await delivery.lateness_of(read, milestones)
    return {one.id: _view(one, parts[one.id], states[one.id], read.now) for one in milestones}


def _view(
    milestone: Milestone, parts: Sequence[Any], state: delivery.Lateness, now: datetime
) -> MilestoneView:
    more = {
        "amount": Money(milestone.amount_minor, milestone.currency),
        "billed": Money(milestone.billed_minor, milestone.currency),
        "overdue": state.overdue,
        "at_risk": {"reasons": list(state.reasons)},
        "days_late": state.days_late,
        "deliverables": [DeliverableView.of(one, now) for one in parts],
        "allowed_moves": MilestoneLifecycle.allowed(milestone, now),
    }
    return MilestoneView.model_validate(milestone.__dict__ | more)
