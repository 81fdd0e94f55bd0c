"""Approvals of prices and packs."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Response
from pydantic import Field

from thenga.domains.bid.api.findings import BidFindingView
from thenga.domains.bid.api.pack_views import PackCountsView
from thenga.domains.bid.api.parameters import ApprovalId, Sha256, WorkspaceId
from thenga.domains.bid.api.pricing_workbooks import WorkbookCashView, WorkbookPointsView
from thenga.domains.bid.lifecycles import ApprovalLifecycle
from thenga.domains.bid.permissions import Permission
from thenga.domains.bid.services import approvals
from thenga.domains.bid.services.approvals import (
    ApproverNotPossible,
    BidFindingsOpen,
    Decided,
    SubjectChanged,
)
from thenga.domains.bid.services.workspaces import BidAlreadySubmitted, BidSealed
from thenga.domains.bid.tables import Approval, ApprovalStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import (
    Conflict,
    Duplicate,
    InvalidTransition,
    RuleViolated,
    SamePerson,
    StaleVersion,
)
from thenga.kernel.http.bodies import Body, Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import lines
from thenga.kernel.values.json_writer import to_json
from thenga.kernel.values.money import Money

router = make_router("Bid / Approvals")

Kind = Annotated[Literal["price", "pack"], Field(description="Kind of approval.")]


class RequestApproval(Body):
    """Approval to request."""

    kind: Kind
    subject_id: Annotated[UUID, Field(description="Workbook or pack.")]
    approver_user_ids: Annotated[
        list[UUID],
        Field(max_length=10, description="People to ask. If empty, everyone who can decide."),
    ] = []
    note: Annotated[
        Annotated[str, lines(1, 2000)] | None, Field(description="Note for the approvers.")
    ] = None


class DecideApproval(Body):
    """Decision on the version you saw."""

    decision: Annotated[
        Literal["approve", "reject", "request_changes", "cancel"],
        Field(description="Decision. Only the requester can cancel."),
    ]
    subject_sha256: Annotated[Sha256, Field(description="SHA-256 of the subject you saw.")]
    comment: Annotated[
        Annotated[str, lines(1, 2000)] | None,
        Field(description="Reason. Required unless you approve or cancel."),
    ] = None


class ApprovalSubjectView(View):
    """A version of a workbook or pack."""

    type: Annotated[str, Field(description="Workbook or pack.")]
    id: Annotated[UUID, Field(description="ID of the subject.")]
    version: Annotated[int, Field(description="Version of the subject.")]
    sha256: Annotated[str, Field(description="SHA-256 of the subject.")]


class ApprovalNeedView(View):
    """Number and authority of the required approvals."""

    count: Annotated[int, Field(description="Number of approvals required.")]
    high: Annotated[
        bool, Field(description="Whether one approver must hold `bid:approval:decide_high`.")
    ]


class ApprovalDecisionView(View):
    """Decision of one person."""

    user_id: Annotated[UUID, Field(description="Person who decided.")]
    decision: Annotated[str, Field(description="Decision.")]
    at: Annotated[datetime, Field(description="Time of the decision.")]
    comment: Annotated[str | None, Field(description="Reason.")]
    presented_sha256: Annotated[
        str | None, Field(alias="shownSha256", description="SHA-256 of the data shown.")
    ]


class PricePresentedView(View):
    """A price as shown to the approver."""

    total: Annotated[Money, Field(description="Price including VAT.")]
    vat: Annotated[Money, Field(description="VAT.")]
    net: Annotated[Money, Field(description="Price excluding VAT.")]
    cost: Annotated[Money | None, Field(description="Cost. Null while a cost is missing.")]
    margin_percent: Annotated[Decimal | None, Field(description="Margin in per cent of net.")]
    findings: Annotated[list[BidFindingView], Field(description="Problems and risks.")]
    points: Annotated[WorkbookPointsView | None, Field(description="Preference points.")]
    cash_picture: Annotated[WorkbookCashView, Field(description="Cash needed before payment.")]


class PackPresentedView(View):
    """A pack as shown to the approver."""

    number: Annotated[int, Field(description="Number of the pack.")]
    manifest_sha256: Annotated[str, Field(description="SHA-256 of the manifest.")]
    counts: Annotated[PackCountsView, Field(description="Findings by severity.")]
    overrides: Annotated[list[str], Field(description="Overridden findings.")]


class PresentedView(View):
    """Data shown to the approver: a price or a pack."""

    price: Annotated[PricePresentedView | None, Field(description="Price under approval.")] = None
    pack: Annotated[PackPresentedView | None, Field(description="Pack under approval.")] = None


class WaiverView(View):
    """Reason why no approval is required."""

    reason: Annotated[str, Field(description="`single_member`: no one else can approve.")]


class BidApprovalView(Stored):
    """An approval of a price or a pack."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="Workspace of the bid.")]
    kind: Kind
    status: ApprovalStatus
    status_reason: Annotated[str | None, Field(description="Why the status changed.")]
    status_changed_at: Annotated[datetime | None, Field(description="Time of the status change.")]
    status_changed_by: Annotated[UUID | None, Field(description="User who changed the status.")]
    subject: Annotated[ApprovalSubjectView, Field(description="Subject of the approval.")]
    approver_user_ids: Annotated[list[UUID], Field(description="People who were asked to approve.")]
    needed: Annotated[ApprovalNeedView, Field(description="Required approvals.")]
    decisions: Annotated[list[ApprovalDecisionView], Field(description="Decisions so far.")]
    presented: Annotated[
        PresentedView | None,
        Field(alias="shown", description="Data shown to the approver, stored with the decision."),
    ]
    presented_sha256: Annotated[
        str | None, Field(alias="shownSha256", description="SHA-256 of the data shown.")
    ]
    note: Annotated[str | None, Field(description="Note for the approvers.")]
    requested_by: Annotated[UUID | None, Field(description="Person who requested it.")]
    expires_at: Annotated[datetime, Field(description="Time of expiry.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/approvals/{self.id}"

    @classmethod
    def of(cls, approval: Approval, read: Reader) -> "BidApprovalView":
        late = approval.status is ApprovalStatus.REQUESTED and approval.expires_at <= read.now
        moves = ApprovalLifecycle.allowed(approval, read.now)
        more: dict[str, Any] = {
            "status": ApprovalStatus.EXPIRED if late else approval.status,
            "status_reason": approval.status_text or approval.status_code,
            "subject": {
                "type": "workbook" if approval.kind == approvals.PRICE else "pack",
                "id": approval.subject_id,
                "version": approval.subject_version,
                "sha256": approval.subject_sha256,
            },
            "presented": approval.shown,
            "presented_sha256": approval.shown_sha256,
            "decisions": [
                one | {"presented_sha256": one["shown_sha256"]} for one in approval.decisions
            ],
            "needed": {"count": approval.needed_count, "high": approval.needed_high},
            "allowed_moves": [] if late else moves[:1],
        }
        return cls.model_validate(approval.__dict__ | more)


class WaivedApproval(View):
    """No approval is required because no one else can approve."""

    waiver: Annotated[WaiverView, Field(description="Why no approval is required.")]
    kind: Kind
    subject: Annotated[ApprovalSubjectView, Field(description="Subject of the approval.")]


_WAIVED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Waived: no one else can approve.",
        "model": WaivedApproval,
        "content": {
            "application/json": {
                "example": {
                    "waiver": {"reason": "single_member"},
                    "kind": "price",
                    "subject": {
                        "type": "workbook",
                        "id": "019a0000-0000-7000-8000-000000000001",
                        "version": 1,
                        "sha256": "0" * 64,
                    },
                }
            }
        },
    }
}


@router.post(
    "/bids/workspaces/{workspaceId}/approvals",
    status_code=201,
    responses=problems(
        *(
            Duplicate,
            BidFindingsOpen,
            ApproverNotPossible,
            Conflict,
            BidSealed,
            BidAlreadySubmitted,
        ),
    )
    | _WAIVED,
)
async def create_bid_approval(
    workspace_id: WorkspaceId,
    body: RequestApproval,
    work: Annotated[Work, writes(Permission.APPROVAL_REQUEST)],
) -> BidApprovalView:
    """Request approval of the current version of a price or a pack.

    The number of approvers depends on the total. If no one else can decide, the approval is waived,
    and sealing requires recent identity verification.
    """
    made = await approvals.request(
        work,
        workspace_id,
        kind=body.kind,
        subject_id=body.subject_id,
        approver_user_ids=body.approver_user_ids,
        note=body.note,
    )
    if made.approval is not None:
        return BidApprovalView.of(made.approval, work)
    subject = made.subject
    waived = WaivedApproval(
        waiver=WaiverView(reason=made.waiver or ""),
        kind=body.kind,
        subject=ApprovalSubjectView(
            type="workbook" if body.kind == "price" else "pack",
            id=subject.id,
            version=subject.version,
            sha256=subject.sha256,
        ),
    )
    return Response(to_json(waived), 200, media_type="application/json")  # type: ignore[return-value]  # the door sends it as it is


@router.get("/bids/approvals/{approvalId}")
async def get_bid_approval(
    approval_id: ApprovalId, read: Annotated[Reader, reads(Permission.APPROVAL_READ)]
) -> BidApprovalView:
    """Retrieve an approval with the data shown to the approver."""
    return BidApprovalView.of(await approvals.get_approval(read, approval_id), read)


@router.post(
    "/bids/approvals/{approvalId}/decide",
    responses=problems(SamePerson, SubjectChanged, InvalidTransition, RuleViolated, StaleVersion),
)
async def decide_bid_approval(
    approval_id: ApprovalId,
    body: DecideApproval,
    work: Annotated[Work, writes(Permission.APPROVAL_DECIDE)],
) -> BidApprovalView:
    """Approve, reject, request changes, or cancel your own request.

    Send the SHA-256 of the subject you saw. You cannot approve what you requested or wrote.
    """
    decided = Decided(body.decision, body.subject_sha256, body.comment)
    return BidApprovalView.of(await approvals.decide(work, approval_id, decided), work)
