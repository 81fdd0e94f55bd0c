"""The closeout of a contract."""

from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi.responses import Response
from pydantic import Field

from thenga.domains.contract.api.amounts import SignedMoney
from thenga.domains.contract.api.proofs import DocumentProof
from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.lifecycles import CloseoutLifecycle
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import closeout
from thenga.domains.contract.services.closeout import (
    Checked,
    CloseoutMove,
    CloseoutOpen,
    GivenCloseout,
)
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.services.workspaces import ConfirmationMissing, ContractOver
from thenga.domains.contract.tables import Closeout, CloseoutStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import (
    Conflict,
    Forbidden,
    InvalidTransition,
    PreconditionRequired,
    RuleViolated,
    SamePerson,
    StaleVersion,
    StepUpRequired,
)
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines, text
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import Money

router = make_router("Contract / Closeout")

Code = Literal[
    "milestones",
    "variations",
    "invoices",
    "disputes",
    "retention",
    "advance",
    "packages",
    "performance",
    "lesson",
    "final_account",
]


class CloseoutItemBody(Body):
    """An item to mark as not applicable."""

    code: Annotated[Code, Field(description="Code of the item.")]
    not_applicable: Annotated[Literal[True], Field(description="Always true.")] = True
    reason: Annotated[str, lines(1, 1000), Field(description="Why it is not applicable.")]


class CloseoutAdjustmentBody(Body):
    """An adjustment of the final account."""

    text: Annotated[str, text(1, 200), Field(description="Description of the adjustment.")]
    amount: Annotated[SignedMoney, Field(description="Amount, VAT included. May be negative.")]


class MoveCloseout(Body):
    """A move of the closeout."""

    verb: Annotated[Literal["submit", "complete", "reopen"], Field(description="Move to make.")]
    reason: Annotated[
        Annotated[str, text(1, 500)] | None,
        Field(description="Reason. Required to complete and to reopen."),
    ] = None
    confirmation: Annotated[
        DocumentProof | None, Field(description="Evidence that the buyer agreed.")
    ] = None


class ManageCloseout(Body):
    """Items, adjustments and at most one move. Omitted fields stay unchanged."""

    items: Annotated[
        list[CloseoutItemBody] | None,
        Field(max_length=10, description="Items that are not applicable. Replaces the list."),
    ] = None
    adjustments: Annotated[
        list[CloseoutAdjustmentBody] | None,
        Field(max_length=50, description="Adjustments. Replaces the list."),
    ] = None
    move: Annotated[MoveCloseout | None, Field(description="Move to make.")] = None


class CloseoutItemView(View):
    """An item of the checklist."""

    code: Annotated[Code, Field(description="Code of the item.")]
    state: Annotated[
        Literal["done", "open", "not_applicable"], Field(description="State of the item.")
    ]
    auto: Annotated[bool, Field(description="Whether the state is computed.")]
    detail: Annotated[
        str | None, Field(description="What is missing, or why it is not applicable.")
    ]


class CloseoutAdjustmentView(View):
    """An adjustment of the final account."""

    text: Annotated[str, Field(description="Description of the adjustment.")]
    amount: Annotated[Money, Field(description="Amount, VAT included.")]


class FinalAccountView(View):
    """Agreed amounts compared with claimed amounts."""

    original_value: Annotated[Money, Field(description="Value as signed.")]
    variations: Annotated[Money, Field(description="Executed variations.")]
    adjustments: Annotated[Money, Field(description="Adjustments.")]
    agreed: Annotated[Money, Field(description="Total agreed.")]
    claimed: Annotated[Money, Field(description="Invoiced, less credits.")]
    unclaimed: Annotated[Money, Field(description="Difference. Must be 0 to close.")]


class CloseoutView(Stored):
    """The closeout of a contract."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Contract being closed.")]
    status: CloseoutStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last move.")]
    items: Annotated[list[CloseoutItemView], Field(description="Current checklist.")]
    adjustments: Annotated[list[CloseoutAdjustmentView], Field(description="Adjustments.")]
    final_account: Annotated[FinalAccountView, Field(description="Current final account.")]
    confirmation_id: Annotated[UUID | None, Field(description="Confirmation of the agreement.")]
    completed_on: Annotated[date | None, Field(description="Date of the agreement.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/contracts/workspaces/{self.workspace_id}/closeout"


@router.post(
    "/contracts/workspaces/{workspaceId}/closeout",
    status_code=201,
    responses=problems(
        RuleViolated,
        *(CloseoutOpen, ContractOver, ContractNotActive, ConfirmationMissing, Conflict),
        *(InvalidTransition, PreconditionRequired, StaleVersion, SamePerson),
        *(Forbidden, StepUpRequired),
    )
    | {200: {"model": CloseoutView, "description": "The closeout was changed."}},
)
async def write_closeout(
    workspace_id: WorkspaceId,
    body: ManageCloseout,
    work: Annotated[Work, writes(Permission.CLOSEOUT_MANAGE)],
) -> CloseoutView:
    """Open or change the closeout, and make at most one move.

    The first call returns 201; later calls return 200 and need `If-Match`. Use `submit` when all
    items are done, `complete` when the buyer has agreed the final account. `complete` needs
    `confirmation` and a second person, if anyone else holds the permission. `complete` and
    `reopen` require recent identity verification and a reason.
    """
    items = adjustments = move = None
    if body.items is not None:
        items = [{"code": one.code, "reason": one.reason} for one in body.items]
    if body.adjustments is not None:
        adjustments = [{"text": one.text, "amount": one.amount} for one in body.adjustments]
    if body.move is not None:
        proof = None if body.move.confirmation is None else body.move.confirmation.to_proof()
        move = CloseoutMove(body.move.verb, body.move.reason, proof)
    given = GivenCloseout(items, adjustments, move)
    found, checked, is_new = await closeout.manage_closeout(work, workspace_id, given)
    view = _view(found, checked, work)
    return view if is_new else Response(to_json(view), media_type="application/json")  # type: ignore[return-value]  # the door sends it as it is


@router.get("/contracts/workspaces/{workspaceId}/closeout")
async def get_closeout(
    workspace_id: WorkspaceId, read: Annotated[Reader, reads(Permission.CLOSEOUT_READ)]
) -> CloseoutView:
    """Get the closeout with its current checklist and final account."""
    found, checked = await closeout.get_closeout(read, workspace_id)
    return _view(found, checked, read)


def _view(found: Closeout, checked: Checked, read: Reader) -> CloseoutView:
    account = checked.account
    currency = account.original_value.currency
    more: dict[str, Any] = {
        "items": checked.items,
        "adjustments": [
            {"text": one["text"], "amount": Money(one["amount_minor"], currency)}
            for one in found.adjustments
        ],
        "final_account": account,
        "allowed_moves": CloseoutLifecycle.allowed(found, read.now),
    }
    return CloseoutView.model_validate(found.__dict__ | more)
