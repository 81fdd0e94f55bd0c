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
        Field(description="Move to make. Decisions by the buyer need a confirmation."),
    ]
    reason: MoveReason = None
    confirmation: Annotated[
        DocumentProof | None, Field(description="Evidence of the buyer's decision.")
    ] = None


class ChangeMilestone(Body):
    """Progress of a milestone, and at most one move."""

    percent_complete: Annotated[Percent, Field(description="Progress in per cent.")] = Decimal(0)
    forecast_on: Annotated[Day | None, Field(description="Expected date.")] = None
    started_on: Annotated[Day | None, Field(description="Start date.")] = None
    evidence_refs: Annotated[
        list[ContractReference], Field(max_length=50, description="Documents. Replaces the list.")
    ] = []
    note: Annotated[Annotated[str, lines(1, 4000)] | None, Field(description="Your note.")] = None
    move: Annotated[MoveMilestone | None, Field(description="Move to make.")] = None


class AtRiskView(View):
    """Whether a milestone is at risk, and why."""

    reasons: Annotated[
        list[str], Field(description="`forecast_late`, `behind` or `risk`. Empty if not at risk.")
    ]


class MilestoneView(Stored):
    """A milestone with its deliverables."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Contract of the milestone.")]
    key: Annotated[str, Field(description="Key in the plan.")]
    title: Annotated[str, Field(description="Title.")]
    kind: Annotated[str, Field(description="Kind of milestone.")]
    value_percent: Annotated[Decimal, Field(description="Share of the contract value.")]
    amount: Annotated[Money, Field(description="Amount, VAT included.")]
    billed: Annotated[Money, Field(description="Amount billed.")]
    accepted_percent: Annotated[Decimal, Field(description="Share that can be invoiced.")]
    start_not_before: Annotated[date | None, Field(description="Earliest start date.")]
    duration_days: Annotated[int, Field(description="Duration in days.")]
    due_on: Annotated[date, Field(description="Due date.")]
    practical_completion: Annotated[bool, Field(description="Part of practical completion.")]
    percent_complete: Annotated[Decimal, Field(description="Progress in per cent.")]
    forecast_on: Annotated[date | None, Field(description="Expected date.")]
    started_on: Annotated[date | None, Field(description="Start date.")]
    evidence_refs: Annotated[list[ContractReferenceView], Field(description="Documents.")]
    note: Annotated[str | None, Field(description="Note.")]
    status: MilestoneStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last move.")]
    overdue: Annotated[bool, Field(description="Whether the due date has passed.")]
    at_risk: Annotated[AtRiskView, Field(description="Why it is at risk.")]
    days_late: Annotated[int, Field(description="Calendar days after the due date.")]
    met_on: Annotated[date | None, Field(description="Date of acceptance.")]
    missing: Annotated[list[str], Field(description="Deliverables missing at acceptance.")]
    confirmation_id: Annotated[UUID | None, Field(description="Confirmation of the decision.")]
    plan_number: Annotated[int, Field(description="Number of its baseline.")]
    deliverables: Annotated[list[DeliverableView], Field(description="Deliverables.")]
    allowed_moves: list[AllowedMove]


@router.get("/contracts/milestones")
async def list_milestones(
    read: Annotated[Reader, reads(Permission.MILESTONE_READ)],
    page: Annotated[Paged, paged("dueOn", "createdAt", default="dueOn")],
    workspace_id: Annotated[
        UUID | None, Query(alias="workspaceId", description="Filter by contract.")
    ] = None,
    status: Annotated[MilestoneStatus | None, Query(description="Filter by status.")] = None,
    overdue: Annotated[bool | None, Query(description="Filter by whether it is overdue.")] = None,
    at_risk: Annotated[
        bool | None, Query(alias="atRisk", description="Filter by whether it is at risk.")
    ] = None,
    due_before: Annotated[
        Day | None, Query(alias="dueBefore", description="Due before this date.")
    ] = None,
) -> PageOf[MilestoneView]:
    """List milestones with their deliverables, earliest due date first."""
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

    `accept`, `accept_partly` and `reject` record the buyer's decision and need `confirmation`.
    Days late are counted to the date of the confirmation.
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
