"""Variations of a contract."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import Field

from thenga.domains.contract.api.amounts import SignedMoney
from thenga.domains.contract.api.proofs import (
    ContractReference,
    ContractReferenceView,
    DocumentProof,
)
from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.lifecycles import VariationLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import variations, workspaces
from thenga.domains.contract.services.delivery import MilestoneGone
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.services.variations import (
    ContractEnded,
    ValueBelowBilled,
    VariationLimitPassed,
    VariationMove,
    VariationUnbalanced,
)
from thenga.domains.contract.services.workspaces import ConfirmationMissing, ContractOver
from thenga.domains.contract.tables import (
    LimitState,
    Party,
    Signature,
    Variation,
    VariationReason,
    VariationStatus,
)
from thenga.domains.contract.values.changes import MilestoneChange
from thenga.domains.contract.values.refusals import missing
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import (
    Conflict,
    Forbidden,
    InvalidTransition,
    RuleViolated,
    SamePerson,
    StepUpRequired,
)
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import Day, lines, matching, text, whole
from thenga.kernel.values.money import Money

router = make_router("Contract / Variations")

VariationId = Annotated[UUID, Path(alias="variationId", description="ID of the variation.")]
Kind = Literal["value", "time", "scope"]


class MilestoneChangeBody(Body):
    """A change to one milestone."""

    key: Annotated[
        str, matching(r"^[A-Z0-9-]{1,16}$", 16), Field(description="Key of the milestone.")
    ]
    amount_delta: Annotated[
        SignedMoney | None,
        Field(description="Change in its amount, VAT included. May be negative."),
    ] = None
    due_on: Annotated[Day | None, Field(description="New due date.")] = None
    new_title: Annotated[
        Annotated[str, text(1, 200)] | None,
        Field(description="Title of a new milestone. It also needs a due date."),
    ] = None

    def to_row(self) -> dict[str, Any]:
        change = MilestoneChange(self.key, self.amount_delta, self.due_on, self.new_title)
        return change.to_row()


Title = Annotated[str, text(1, 200), Field(description="Title.")]
Kinds = Annotated[
    list[Kind],
    Field(min_length=1, max_length=3, description="What changes: value, time or scope."),
]
ValueDelta = Annotated[
    SignedMoney | None, Field(description="Change in value, VAT included. May be negative.")
]
DaysDelta = Annotated[
    Annotated[int, whole(-3660, 3660)], Field(description="Days by which the end date moves.")
]
Scope = Annotated[Annotated[str, lines(1, 4000)] | None, Field(description="Change in scope.")]
Changes = Annotated[
    list[MilestoneChangeBody],
    Field(
        max_length=200, description="Changes to milestones. Amounts must add up to `valueDelta`."
    ),
]
Evidence = Annotated[
    list[ContractReference], Field(max_length=50, description="Supporting documents.")
]
LimitApproval = Annotated[
    ContractReference | None, Field(description="Approval to exceed the legal limit.")
]


class CreateVariation(Body):
    """A change to a contract."""

    title: Title
    kinds: Kinds
    reason_code: Annotated[VariationReason, Field(description="Reason for the variation.")]
    value_delta: ValueDelta = None
    days_delta: DaysDelta = 0
    scope: Scope = None
    milestone_changes: Changes = []
    evidence_refs: Evidence = []
    limit_approval_ref: LimitApproval = None


class MoveVariation(Body):
    """A move of a variation."""

    verb: Annotated[
        Literal["submit", "review", "approve", "reject", "withdraw", "sign"],
        Field(description="Move to make."),
    ]
    party: Annotated[
        Party, Field(description="Party that signs. The buyer's signature needs a confirmation.")
    ] = Party.SUPPLIER
    reason: Annotated[
        Annotated[str, lines(1, 500)] | None, Field(description="Reason. Required to sign.")
    ] = None
    confirmation: Annotated[
        DocumentProof | None,
        Field(description="Evidence of the buyer's decision. Required to approve and to reject."),
    ] = None

    def to_move(self) -> VariationMove:
        proof = None if self.confirmation is None else self.confirmation.to_proof()
        return VariationMove(self.verb, self.reason, self.party, proof)


class ChangeVariation(Body):
    """Fields to update, and at most one move. Omitted fields stay unchanged."""

    title: Title = "unchanged"
    kinds: Kinds = ["value"]
    reason_code: Annotated[VariationReason, Field(description="Reason for the variation.")] = (
        VariationReason.CLIENT_INSTRUCTION
    )
    value_delta: ValueDelta = None
    days_delta: DaysDelta = 0
    scope: Scope = None
    milestone_changes: Changes = []
    evidence_refs: Evidence = []
    limit_approval_ref: LimitApproval = None
    move: Annotated[MoveVariation | None, Field(description="Move to make with the change.")] = None


class MilestoneDeltaView(View):
    """A change to one milestone."""

    key: Annotated[str, Field(description="Key of the milestone.")]
    amount_delta: Annotated[Money | None, Field(description="Change in its amount.")]
    due_on: Annotated[date | None, Field(description="New due date.")]
    new_title: Annotated[str | None, Field(description="Title of a new milestone.")]


class VariationSignatureView(View):
    """A signature on the content."""

    party: Annotated[Party, Field(description="Party that signed.")]
    signed_on: Annotated[date, Field(description="Date of the signature.")]
    content_hash: Annotated[str, Field(description="SHA-256 of the signed content.")]
    strength: Annotated[
        str | None, Field(description="Strength of proof of the buyer's signature.")
    ]


class VariationView(Stored):
    """A change to a contract. It takes effect once both parties have signed."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="ID of the contract.")]
    number: Annotated[str, Field(description="Number within the contract.")]
    status: VariationStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last move.")]
    status_changed_at: Annotated[datetime | None, Field(description="Time of the last move.")]
    status_changed_by: Annotated[UUID | None, Field(description="Person who made the last move.")]
    title: Annotated[str, Field(description="Title.")]
    kinds: Annotated[list[Kind], Field(description="What changes: value, time or scope.")]
    reason_code: Annotated[VariationReason, Field(description="Reason for the variation.")]
    value_delta: Annotated[Money, Field(description="Change in value, VAT included.")]
    days_delta: Annotated[int, Field(description="Days by which the end date moves.")]
    scope: Annotated[str | None, Field(description="Change in scope.")]
    milestone_changes: Annotated[
        list[MilestoneDeltaView], Field(description="Changes to milestones.")
    ]
    evidence_refs: Annotated[
        list[ContractReferenceView], Field(description="Supporting documents.")
    ]
    limit_approval_ref: Annotated[
        ContractReferenceView | None, Field(description="Approval to exceed the legal limit.")
    ]
    content_hash: Annotated[
        str | None, Field(description="SHA-256 of the content to sign. Null for drafts.")
    ]
    signatures: Annotated[
        list[VariationSignatureView], Field(description="Signatures on this content.")
    ]
    strength: Annotated[str | None, Field(description="Strength of proof of the buyer's decision.")]
    value_before: Annotated[Money | None, Field(description="Previous contract value.")]
    value_after: Annotated[Money | None, Field(description="New contract value.")]
    ends_before: Annotated[date | None, Field(description="Previous end date.")]
    ends_after: Annotated[date | None, Field(description="New end date.")]
    cumulative_percent: Annotated[
        Decimal | None, Field(description="Total increases in per cent of the original value.")
    ]
    limit_state: Annotated[
        LimitState | None,
        Field(description="Total increases compared with the legal limit."),
    ]
    executed_at: Annotated[datetime | None, Field(description="When it took effect.")]
    plan_number: Annotated[int | None, Field(description="Number of the plan it created.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        """Where it is read again."""
        return f"{PREFIX}/contracts/variations/{self.id}"

    @classmethod
    def of(
        cls, variation: Variation, signatures: list[Signature], now: datetime
    ) -> "VariationView":
        def money(minor: int | None) -> Money | None:
            return None if minor is None else Money(minor, variation.currency)

        valid = [one for one in signatures if one.content_hash == variation.content_hash]
        more: dict[str, Any] = {
            "value_delta": money(variation.value_delta_minor),
            "value_before": money(variation.value_before_minor),
            "value_after": money(variation.value_after_minor),
            "milestone_changes": variations.changes_of(variation),
            "signatures": [VariationSignatureView.model_validate(one) for one in valid],
            "allowed_moves": VariationLifecycle.allowed(variation, now),
        }
        return cls.model_validate(variation.__dict__ | more)


def _fields(body: CreateVariation | ChangeVariation) -> dict[str, Any]:
    """The columns of the fields that the client sent."""
    fields = body.changes()
    fields.pop("move", None)
    if "milestone_changes" in fields:
        fields["milestone_changes"] = [one.to_row() for one in body.milestone_changes]
    if "evidence_refs" in fields:
        fields["evidence_refs"] = [one.to_row() for one in body.evidence_refs]
    if fields.get("limit_approval_ref") is not None:
        fields["limit_approval_ref"] = fields["limit_approval_ref"].to_row()
    return fields


async def _view(read: Reader, variation: Variation) -> VariationView:
    signatures = await workspaces.live_signatures(read, variation.id)
    return VariationView.of(variation, signatures, read.now)


@router.post(
    "/contracts/workspaces/{workspaceId}/variations",
    status_code=201,
    responses=problems(RuleViolated, ContractOver, ContractNotActive, VariationUnbalanced),
)
async def create_variation(
    workspace_id: WorkspaceId,
    body: CreateVariation,
    work: Annotated[Work, writes(Permission.VARIATION_CREATE)],
) -> VariationView:
    """Draft a variation. Submit it, record the buyer's approval, then have both parties sign."""
    variation = await variations.create_variation(work, workspace_id, fields=_fields(body))
    return await _view(work, variation)


@router.get("/contracts/variations")
async def list_variations(
    read: Annotated[Reader, reads(Permission.VARIATION_READ)],
    page: Annotated[Paged, paged("createdAt", default="-createdAt")],
    workspace_id: Annotated[
        UUID | None, Query(alias="workspaceId", description="Filter by contract.")
    ] = None,
    status: Annotated[VariationStatus | None, Query(description="Filter by status.")] = None,
) -> PageOf[VariationView]:
    """List variations, newest first. Signatures are shown when you get one variation."""
    found = await variations.list_variations(read, page, workspace_id=workspace_id, status=status)
    return PageOf[VariationView].of(found, lambda one: VariationView.of(one, [], read.now))


@router.get("/contracts/variations/{variationId}")
async def get_variation(
    variation_id: VariationId, read: Annotated[Reader, reads(Permission.VARIATION_READ)]
) -> VariationView:
    """Get a variation with its valid signatures."""
    return await _view(read, await read.get(Variation, variation_id))


@router.patch(
    "/contracts/variations/{variationId}",
    responses=problems(
        RuleViolated,
        ContractOver,
        InvalidTransition,
        Conflict,
        VariationUnbalanced,
        VariationLimitPassed,
        ContractEnded,
        ValueBelowBilled,
        MilestoneGone,
        ConfirmationMissing,
        SamePerson,
        Forbidden,
        StepUpRequired,
    ),
)
async def change_variation(
    variation_id: VariationId,
    body: ChangeVariation,
    work: Annotated[Work, writes(Permission.VARIATION_UPDATE, if_match=True)],
) -> VariationView:
    """Change a variation, and make at most one move.

    A change after submission returns it to draft and voids its signatures. The second signature
    executes it: value, end date, plan and milestones change at once.
    """
    move = None if body.move is None else body.move.to_move()
    if move is not None and move.verb == "sign":
        if move.reason is None:
            raise missing("/move/reason", "Give a reason.")
        await workspaces.demand(work, Permission.VARIATION_SIGN)
    variation = await variations.change_variation(
        work, variation_id, fields=_fields(body), move=move
    )
    return await _view(work, variation)
