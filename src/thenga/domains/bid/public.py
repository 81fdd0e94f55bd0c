"""What other domains may know of Bid: the events that they already react to."""

from datetime import date, datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money
from thenga.kernel.values.references import Reference

WorkspaceStatus = Literal[
    "preparing",
    "in_review",
    "ready",
    "submitted",
    "awarded",
    "unsuccessful",
    "disqualified",
    "no_bid",
    "withdrawn",
    "lapsed",
    "tender_cancelled",
]


class Bidder(BaseModel):
    """One member of the bidding group and its share."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    key: str
    ref: Reference | None = None
    share_percent: Decimal | None = None


class BidWorkspaceOpened(Event, type="bid.BidWorkspaceOpened.v1", subject="workspace_id"):
    """A company began to prepare a bid; the tender is null for one outside of the platform."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    status: WorkspaceStatus
    closing_at: datetime | None
    bid_manager_user_id: UUID | None


class BidWorkspaceChanged(Event, type="bid.BidWorkspaceChanged.v1", subject="workspace_id"):
    """The workspace of a bid has another status."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    status: WorkspaceStatus
    previous_status: WorkspaceStatus | None
    reason_code: str | None
    closing_at: datetime | None
    bid_manager_user_id: UUID | None


class BidReconfirmationRequired(
    Event, type="bid.BidReconfirmationRequired.v1", subject="workspace_id"
):
    """An amendment touched the bid: somebody must decide again."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID
    label: str
    amendment_number: int
    ripple_id: UUID
    effect_keys: list[str]
    closing_at: datetime | None


class BidReconfirmed(Event, type="bid.BidReconfirmed.v1", subject="workspace_id"):
    """Somebody decided how the bid goes on after an amendment."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID
    label: str
    amendment_number: int
    ripple_id: UUID
    decision: str
    closing_at: datetime | None


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


class BidWithdrawn(Event, type="bid.BidWithdrawn.v1", subject="workspace_id"):
    """A bid that was handed in was taken back."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    reason_code: str | None


class BidAwarded(Event, type="bid.BidAwarded.v1", subject="workspace_id"):
    """The company won; `buyer_name` is there only for tenders outside of the platform."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    outcome_id: UUID
    award_reference: str | None
    awarded_on: date
    awarded_value: Money | None
    buyer_name: str | None
    document_refs: list[Reference]
    pack_id: UUID | None
    manifest_sha256: str | None
    bidders: list[Bidder]


class ContractCreationRecorded(
    Event, type="bid.ContractCreationRecorded.v1", subject="workspace_id"
):
    """A contract was won outside of the platform, with at least one document that shows it."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    outcome_id: UUID
    award_reference: str | None
    awarded_on: date
    awarded_value: Money | None
    buyer_name: str | None
    document_refs: list[Reference]
    pack_id: UUID | None
    manifest_sha256: str | None
    bidders: list[Bidder]


class BidAwardSetAside(Event, type="bid.BidAwardSetAside.v1", subject="workspace_id"):
    """An award does not hold any more; the bid counts as handed in again."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    outcome_id: UUID
    award_reference: str | None
    reason_code: str | None


class BidLost(Event, type="bid.BidLost.v1", subject="workspace_id"):
    """The company did not win, and which codes of reasons are known."""

    organization_id: UUID
    workspace_id: UUID
    tender_opportunity_id: UUID | None
    label: str
    outcome_id: UUID
    result: Literal["lost", "disqualified", "cancelled"]
    reasons: list[str]
    our_scores: dict[str, Decimal] | None = None
    winner_scores: dict[str, Decimal] | None = None
    bid_total: Money | None = None


EVENTS = (
    BidWorkspaceOpened,
    BidWorkspaceChanged,
    BidReconfirmationRequired,
    BidReconfirmed,
    BidSubmitted,
    BidWithdrawn,
    BidAwarded,
    ContractCreationRecorded,
    BidAwardSetAside,
    BidLost,
)
