"""Deliverables of milestones."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from thenga.domains.contract.api.proofs import (
    ContractReference,
    ContractReferenceView,
    DocumentProof,
)
from thenga.domains.contract.lifecycles import DeliverableLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import delivery
from thenga.domains.contract.services.delivery import DeliveryMove
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.services.workspaces import ConfirmationMissing, ContractOver
from thenga.domains.contract.tables import Deliverable, DeliverableStatus
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import Forbidden, InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, Stored
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import Day, decimal, lines, text

router = make_router("Contract / Deliverables")

DeliverableId = Annotated[UUID, Path(alias="deliverableId", description="ID of the deliverable.")]
MoveReason = Annotated[
    Annotated[str, text(1, 500)] | None, Field(description="Reason. Required to reject or waive.")
]
_OPEN = (
    DeliverableStatus.PLANNED,
    DeliverableStatus.IN_PROGRESS,
    DeliverableStatus.DELIVERED,
    DeliverableStatus.REJECTED,
)


class MoveDeliverable(Body):
    """A move of a deliverable."""

    verb: Annotated[
        Literal["start", "deliver", "accept", "reject"], Field(description="Move to make.")
    ]
    reason: MoveReason = None
    confirmation: Annotated[
        DocumentProof | None, Field(description="Evidence that the buyer accepted it.")
    ] = None


class ChangeDeliverable(Body):
    """Progress of a deliverable, and at most one move."""

    delivered_on: Annotated[Day | None, Field(description="Date of delivery.")] = None
    quantity: Annotated[
        Annotated[Decimal, decimal(14, 6)] | None, Field(description="Quantity delivered.")
    ] = None
    evidence_refs: Annotated[
        list[ContractReference], Field(max_length=50, description="Documents. Replaces the list.")
    ] = []
    note: Annotated[Annotated[str, lines(1, 4000)] | None, Field(description="Your note.")] = None
    move: Annotated[MoveDeliverable | None, Field(description="Move to make.")] = None


class DeliverableView(Stored):
    """A deliverable of a milestone."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Contract of the deliverable.")]
    milestone_id: Annotated[UUID, Field(description="Milestone it belongs to.")]
    key: Annotated[str, Field(description="Key within the milestone.")]
    title: Annotated[str, Field(description="Title.")]
    acceptance_criteria: Annotated[str | None, Field(description="Acceptance criteria.")]
    due_on: Annotated[date | None, Field(description="Due date.")]
    weight: Annotated[Decimal, Field(description="Weight within the milestone.")]
    required: Annotated[bool, Field(description="Whether it is required.")]
    delivered_on: Annotated[date | None, Field(description="Date of delivery.")]
    quantity: Annotated[Decimal | None, Field(description="Quantity delivered.")]
    evidence_refs: Annotated[list[ContractReferenceView], Field(description="Documents.")]
    note: Annotated[str | None, Field(description="Note.")]
    status: DeliverableStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last move.")]
    rejections: Annotated[int, Field(description="Number of rejections by the buyer.")]
    accepted_on: Annotated[date | None, Field(description="Date of acceptance.")]
    overdue: Annotated[bool, Field(description="Whether the due date has passed.")]
    confirmation_id: Annotated[UUID | None, Field(description="Confirmation of the acceptance.")]
    allowed_moves: list[AllowedMove]

    @classmethod
    def of(cls, deliverable: Deliverable, now: datetime) -> "DeliverableView":
        due = deliverable.due_on
        more = {
            "overdue": deliverable.status in _OPEN and due is not None and local_day(now) > due,
            "allowed_moves": DeliverableLifecycle.allowed(deliverable, now),
        }
        return cls.model_validate(deliverable.__dict__ | more)


@router.patch(
    "/contracts/deliverables/{deliverableId}",
    responses=problems(
        RuleViolated,
        ConfirmationMissing,
        ContractOver,
        ContractNotActive,
        InvalidTransition,
        Forbidden,
    ),
)
async def change_deliverable(
    deliverable_id: DeliverableId,
    body: ChangeDeliverable,
    work: Annotated[Work, writes(Permission.DELIVERABLE_UPDATE)],
) -> DeliverableView:
    """Track a deliverable and make at most one move.

    `deliver` needs a document or a note. `accept` records that the buyer accepted it and needs
    `confirmation`. After a rejection, start it again with `start`.
    """
    fields: dict[str, Any] = body.changes()
    asked = fields.pop("move", None)
    if "evidence_refs" in fields:
        fields["evidence_refs"] = [one.to_row() for one in body.evidence_refs]
    move = None
    if asked is not None:
        proof = None if asked.confirmation is None else asked.confirmation.to_proof()
        move = DeliveryMove(asked.verb, asked.reason, proof)
    changed = await delivery.change_deliverable(work, deliverable_id, fields=fields, move=move)
    return DeliverableView.of(changed, work.now)
