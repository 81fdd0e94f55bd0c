"""Workspaces as they are shown: a card for every member, the whole for the team."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.bid.api.compliance_matrix import ComplianceMatrixView, CoverageView
from thenga.domains.bid.api.drafts import BidDraftView
from thenga.domains.bid.api.outcomes import BidOutcomeView
from thenga.domains.bid.api.plans import BidPlanView
from thenga.domains.bid.api.references import BidReferenceView
from thenga.domains.bid.api.sbd_forms import SbdFormCard
from thenga.domains.bid.api.tasks import BidTaskView
from thenga.domains.bid.lifecycles import WorkspaceLifecycle
from thenga.domains.bid.services import workspaces
from thenga.domains.bid.services.overview import Overview
from thenga.domains.bid.services.workspaces import TenderState
from thenga.domains.bid.tables import (
    Approval,
    ApprovalStatus,
    Pack,
    PackStatus,
    Ripple,
    TenderRef,
    Workspace,
    WorkspaceStatus,
)
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import Stored, View
from thenga.kernel.http.document.operations import PREFIX

TeamRole = Literal["lead", "writer", "estimator", "reviewer", "approver", "signatory", "observer"]


class BidTeamMemberView(View):
    """A person in the team."""

    roles: Annotated[list[TeamRole], Field(description="Roles in this bid.")]
    price: Annotated[bool, Field(description="Whether the person can see prices.")]


class BidderView(View):
    """One of the joint bidders."""

    lead: Annotated[bool, Field(description="Whether it is the lead bidder.")]
    ref: Annotated[BidReferenceView | None, Field(description="Organization, if on the platform.")]
    name: Annotated[str | None, Field(description="Name, if not on the platform.")]
    share_percent: Annotated[Decimal | None, Field(description="Share in per cent.")]


class BidTenderView(View):
    """The tender as it was last read."""

    tender_opportunity_id: Annotated[UUID, Field(description="ID of the tender.")]
    number: Annotated[str, Field(description="Number of the tender.")]
    title: Annotated[str, Field(description="Title of the tender.")]
    amendment_number: Annotated[int, Field(description="Newest amendment known to the bid.")]
    closing_at: Annotated[datetime | None, Field(description="Closing time.")]
    closing_precision: Annotated[
        Literal["minute", "day"], Field(description="`day` if only the date is known.")
    ]
    time_zone: Annotated[str, Field(description="Time zone of the closing.")]
    status: Annotated[str, Field(description="Status of the tender.")]
    as_of: Annotated[datetime, Field(description="Time at which it was read.")]
    state: Annotated[
        TenderState,
        Field(description="`stale` if it changed, `unavailable` if Opportunity does not respond."),
    ]

    @classmethod
    def of(cls, stored: TenderRef, state: TenderState) -> "BidTenderView":
        more = {"status": stored.tender_status, "state": state}
        return cls.model_validate(stored.__dict__ | more)


class ReconfirmationView(View):
    """Whether the bid must be reconfirmed after an amendment."""

    required: Annotated[bool, Field(description="Whether a reconfirmation is required.")]
    amendment_number: Annotated[int | None, Field(description="Amendment to reconfirm.")]
    ripple_id: Annotated[UUID | None, Field(description="Ripple that lists its effects.")]


class RippleEffectView(View):
    """An effect of an amendment."""

    key: Annotated[str, Field(description="Key used to acknowledge it.")]
    subject: Annotated[str, Field(description="Affected part of the bid.")]
    change: Annotated[str, Field(description="Kind of change.")]
    before: Annotated[str | None, Field(description="Previous value.")]
    after: Annotated[str | None, Field(description="New value.")]
    handling: Annotated[
        Literal["automatic", "open", "acknowledged"],
        Field(description="Acknowledge `open` effects when you reconfirm."),
    ]


class RippleView(Stored):
    """Effects of one amendment on this bid."""

    amendment_number: Annotated[int, Field(description="Number of the amendment.")]
    causation_event_id: Annotated[UUID, Field(description="Event that reported it.")]
    material: Annotated[bool, Field(description="Whether the bid must be reconfirmed.")]
    effects: Annotated[list[RippleEffectView], Field(description="Effects on the bid.")]
    decision: Annotated[str | None, Field(description="Decision on the bid.")]
    note: Annotated[str | None, Field(description="Note on the decision.")]
    decided_by: Annotated[UUID | None, Field(description="Person who decided.")]
    decided_at: Annotated[datetime | None, Field(description="Time of the decision.")]

    @classmethod
    def of(cls, ripple: Ripple) -> "RippleView":
        return cls.model_validate(ripple.__dict__)


class BidApprovalCard(Stored):
    """Summary of an approval, without amounts."""

    kind: Annotated[Literal["price", "pack"], Field(description="Kind of approval.")]
    subject_id: Annotated[UUID, Field(description="Workbook or pack.")]
    subject_version: Annotated[int, Field(description="Version of the subject.")]
    subject_sha256: Annotated[str, Field(description="SHA-256 of the subject.")]
    status: ApprovalStatus
    expires_at: datetime

    @classmethod
    def of(cls, approval: Approval) -> "BidApprovalCard":
        return cls.model_validate(approval.__dict__)


class BidPackCard(Stored):
    """Summary of the current pack."""

    number: Annotated[int, Field(description="Number of the pack.")]
    status: PackStatus
    manifest_sha256: Annotated[str | None, Field(description="SHA-256 of its manifest.")]
    sealed_at: Annotated[datetime | None, Field(description="Time of sealing.")]
    sealed_by: Annotated[UUID | None, Field(description="Person who sealed it.")]

    @classmethod
    def of(cls, pack: Pack) -> "BidPackCard":
        return cls.model_validate(pack.__dict__)


class BidWorkspaceCard(Stored):
    """A bid as every member sees it, without amounts."""

    organization_id: UUID
    tender_opportunity_id: Annotated[UUID | None, Field(description="Tender of the bid.")]
    origin: Annotated[
        Literal["platform", "outside_platform"],
        Field(description="`outside_platform` for a contract won elsewhere."),
    ]
    title: Annotated[str, Field(description="Title of the bid.")]
    bid_manager_user_id: Annotated[UUID | None, Field(description="Person who leads the bid.")]
    closing_at: Annotated[datetime | None, Field(description="Closing time of the tender.")]
    status: Annotated[WorkspaceStatus, Field(description="Current status.")]
    reconfirmation: Annotated[
        ReconfirmationView, Field(description="Whether the bid must be reconfirmed.")
    ]

    @property
    def own_path(self) -> str:
        return f"{PREFIX}/bids/workspaces/{self.id}"

    @classmethod
    def of_row(cls, row: Workspace, now: datetime) -> "BidWorkspaceCard":
        return cls.model_validate(_card(row, now))


class BidWorkspaceView(BidWorkspaceCard):
    """A bid as its team sees it."""

    buyer_name: Annotated[str | None, Field(description="Buyer outside the platform.")]
    external_reference: Annotated[str | None, Field(description="Reference of the buyer.")]
    access: Annotated[
        Literal["team", "organization"], Field(description="Who can see the whole bid.")
    ]
    envelopes: Annotated[Literal["single", "two"], Field(description="Envelopes of the bid.")]
    team: Annotated[dict[str, BidTeamMemberView], Field(description="Team by user ID.")]
    bidders: Annotated[dict[str, BidderView], Field(description="Joint bidders by key.")]
    tender: Annotated[BidTenderView | None, Field(description="The tender as last read.")]
    coverage: Annotated[CoverageView, Field(description="Coverage of the requirements.")]
    matrix_version: Annotated[int, Field(description="Version of the matrix.")]
    status_reason: Annotated[str | None, Field(description="Why the status changed.")]
    status_changed_at: Annotated[datetime | None, Field(description="Time of the status change.")]
    status_changed_by: Annotated[UUID | None, Field(description="User who changed the status.")]
    withheld: Annotated[list[str], Field(description="Parts that you cannot see.")]
    allowed_moves: list[AllowedMove]
    plan: Annotated[BidPlanView | None, Field(description="Plan, if included.")]
    tasks: Annotated[list[BidTaskView] | None, Field(description="Tasks, if included.")]
    drafts: Annotated[list[BidDraftView] | None, Field(description="Drafts, if included.")]
    matrix: Annotated[ComplianceMatrixView | None, Field(description="Matrix, if included.")]
    forms: Annotated[list[SbdFormCard] | None, Field(description="Forms, if included.")]
    approvals: Annotated[list[BidApprovalCard] | None, Field(description="Approvals, if included.")]
    pack: Annotated[BidPackCard | None, Field(description="Current pack, if included.")]
    outcome: Annotated[BidOutcomeView | None, Field(description="Outcome, if included.")]
    ripples: Annotated[list[RippleView] | None, Field(description="Ripples, if included.")]

    @classmethod
    def shown_as(cls, found: Overview, now: datetime) -> "BidWorkspaceView":
        row = found.workspace
        more = _card(row, now) | {
            "tender": None
            if found.tender is None
            else BidTenderView.of(found.tender, found.tender_state),
            "coverage": {"overall": row.coverage_overall, "mandatory": row.coverage_mandatory},
            "status_reason": row.status_text or row.status_code,
            "withheld": found.withheld,
            "allowed_moves": WorkspaceLifecycle.allowed(row, now),
        }
        return cls.model_validate(more | _parts(found, now))


def _card(row: Workspace, now: datetime) -> dict[str, Any]:
    reconfirmation = {
        "required": row.reconfirm_amendment is not None,
        "amendment_number": row.reconfirm_amendment,
        "ripple_id": row.reconfirm_ripple_id,
    }
    status = workspaces.status_at(row, now)
    return row.__dict__ | {"status": status, "reconfirmation": reconfirmation}


def _parts(found: Overview, now: datetime) -> dict[str, Any]:
    """What was asked for beside the workspace itself; null for the rest."""
    tasks = found.tasks
    known = {one.id: one for one in tasks or ()}
    return {
        "plan": None if found.plan is None else BidPlanView.of(*found.plan),
        "tasks": None if tasks is None else [BidTaskView.of(one, known, now) for one in tasks],
        "drafts": None
        if found.drafts is None
        else [BidDraftView.of(draft, sections) for draft, sections in found.drafts],
        "matrix": None
        if found.matrix is None
        else ComplianceMatrixView.of(found.workspace, *found.matrix),
        "forms": None
        if found.forms is None
        else [SbdFormCard.model_validate(one.__dict__) for one in found.forms],
        "approvals": None
        if found.approvals is None
        else [BidApprovalCard.of(one) for one in found.approvals],
        "pack": None if found.pack is None else BidPackCard.of(found.pack),
        "outcome": None if found.outcome is None else BidOutcomeView.of(found.outcome),
        "ripples": None if found.ripples is None else [RippleView.of(one) for one in found.ripples],
    }
