"""What Bid tells of approvals, packs and the submission."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event

ApprovalKind = Literal["price", "pack"]
ApprovalDecision = Literal["approve", "reject", "request_changes", "cancel"]


class ApprovedSubject(BaseModel):
    """Exactly what is to be approved."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    type: Literal["workbook", "pack"]
    id: UUID
    version: int
    sha256: str


class ApprovalRequested(Event, type="bid.ApprovalRequested.v1", subject="approval_id"):
    """Somebody is asked to approve a price or a pack."""

    organization_id: UUID
    approval_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    kind: ApprovalKind
    about: ApprovedSubject
    approver_user_ids: list[UUID]
    expires_at: datetime | None


class ApprovalDecided(Event, type="bid.ApprovalDecided.v1", subject="approval_id"):
    """An approver decided; further ones may be needed."""

    organization_id: UUID
    approval_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    kind: ApprovalKind
    about: ApprovedSubject
    decision: ApprovalDecision
    status: str


class ApprovalVoided(Event, type="bid.ApprovalVoided.v1", subject="approval_id"):
    """An approval does not count any more: what was seen changed, or its time is over."""

    organization_id: UUID
    approval_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    kind: ApprovalKind
    about: ApprovedSubject
    cause: str


class PricingApproved(Event, type="bid.PricingApproved.v1", subject="approval_id"):
    """The price of a bid is approved."""

    organization_id: UUID
    approval_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    about: ApprovedSubject


class BidApproved(Event, type="bid.BidApproved.v1", subject="approval_id"):
    """The pack of a bid is approved."""

    organization_id: UUID
    approval_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    about: ApprovedSubject


class SubmissionPackBuilt(Event, type="bid.SubmissionPackBuilt.v1", subject="pack_id"):
    """A pack was assembled, and how many findings of each class it has."""

    organization_id: UUID
    pack_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    number: int
    manifest_sha256: str
    counts: dict[str, int]


class SubmissionPackSealed(Event, type="bid.SubmissionPackSealed.v1", subject="pack_id"):
    """A pack is sealed and ready to be handed in."""

    organization_id: UUID
    pack_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    number: int
    manifest_sha256: str
    overrides: int


class SubmissionPackUnsealed(Event, type="bid.SubmissionPackUnsealed.v1", subject="pack_id"):
    """A sealed pack was opened again, by hand or by what it rests on."""

    organization_id: UUID
    pack_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    number: int
    manifest_sha256: str
    cause: str


class BidSubmitted(Event, type="bid.BidSubmitted.v1", subject="workspace_id"):
    """The bid was handed in, with a proof."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    pack_id: UUID
    proof_id: UUID
    submitted_at: datetime
    channel: Literal["box", "courier", "portal", "email", "hand"]
    recorded_late: bool


EVENTS = (
    ApprovalRequested,
    ApprovalDecided,
    ApprovalVoided,
    PricingApproved,
    BidApproved,
    SubmissionPackBuilt,
    SubmissionPackSealed,
    SubmissionPackUnsealed,
    BidSubmitted,
)
