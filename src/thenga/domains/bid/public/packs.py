"""What Bid tells of approvals, packs and the submission."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.domains.bid.public.of_bids import OfBid

ApprovalKind = Literal["price", "pack"]
ApprovalDecision = Literal["approve", "reject", "request_changes", "cancel"]


class ApprovedSubject(BaseModel):
    """Exactly what is to be approved."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    type: Literal["workbook", "pack"]
    id: UUID
    version: int
    sha256: str


class ApprovalRequested(OfBid, type="bid.ApprovalRequested.v1", subject="approval_id"):
    """Somebody is asked to approve a price or a pack."""

    approval_id: UUID
    kind: ApprovalKind
    about: ApprovedSubject
    approver_user_ids: list[UUID]
    expires_at: datetime | None


class ApprovalDecided(OfBid, type="bid.ApprovalDecided.v1", subject="approval_id"):
    """An approver decided; further ones may be needed."""

    approval_id: UUID
    kind: ApprovalKind
    about: ApprovedSubject
    decision: ApprovalDecision
    status: str


class ApprovalVoided(OfBid, type="bid.ApprovalVoided.v1", subject="approval_id"):
    """An approval does not count any more: what was seen changed, or its time is over."""

    approval_id: UUID
    kind: ApprovalKind
    about: ApprovedSubject
    cause: str


class PricingApproved(OfBid, type="bid.PricingApproved.v1", subject="approval_id"):
    """The price of a bid is approved."""

    approval_id: UUID
    about: ApprovedSubject


class BidApproved(OfBid, type="bid.BidApproved.v1", subject="approval_id"):
    """The pack of a bid is approved."""

    approval_id: UUID
    about: ApprovedSubject


class SubmissionPackBuilt(OfBid, type="bid.SubmissionPackBuilt.v1", subject="pack_id"):
    """A pack was assembled, and how many findings of each class it has."""

    pack_id: UUID
    number: int
    manifest_sha256: str
    counts: dict[str, int]


class SubmissionPackSealed(OfBid, type="bid.SubmissionPackSealed.v1", subject="pack_id"):
    """A pack is sealed and ready to be submitted."""

    pack_id: UUID
    number: int
    manifest_sha256: str
    overrides: int


class SubmissionPackUnsealed(OfBid, type="bid.SubmissionPackUnsealed.v1", subject="pack_id"):
    """A sealed pack was opened again, by hand or by what it rests on."""

    pack_id: UUID
    number: int
    manifest_sha256: str
    cause: str


class BidSubmitted(OfBid, type="bid.BidSubmitted.v1", subject="workspace_id"):
    """The bid was submitted, with a proof."""

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
