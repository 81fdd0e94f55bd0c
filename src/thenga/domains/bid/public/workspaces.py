"""What Bid tells of a workspace as a whole, and of amendments of its tender."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from thenga.domains.bid.public.of_bids import OfBid

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
NoBidReason = Literal[
    "not_qualified",
    "capacity",
    "price_risk",
    "cash_gap",
    "briefing_missed",
    "partner_missing",
    "strategy",
    "other",
]


class BidWorkspaceOpened(OfBid, type="bid.BidWorkspaceOpened.v1", subject="workspace_id"):
    """A company began to prepare a bid; the tender is null for one outside of the platform."""

    status: WorkspaceStatus
    closing_at: datetime | None
    bid_manager_user_id: UUID | None


class BidWorkspaceChanged(OfBid, type="bid.BidWorkspaceChanged.v1", subject="workspace_id"):
    """The workspace of a bid has another status."""

    status: WorkspaceStatus
    previous_status: WorkspaceStatus | None
    reason_code: str | None
    closing_at: datetime | None
    bid_manager_user_id: UUID | None


class BidReconfirmationRequired(
    OfBid, type="bid.BidReconfirmationRequired.v1", subject="workspace_id"
):
    """An amendment touched the bid: somebody must decide again."""

    tender_opportunity_id: UUID
    amendment_number: int
    ripple_id: UUID
    effect_keys: list[str]
    closing_at: datetime | None


class BidAmendmentNoted(OfBid, type="bid.BidAmendmentNoted.v1", subject="workspace_id"):
    """A minor amendment was noted: nobody has to decide again."""

    tender_opportunity_id: UUID
    amendment_number: int
    ripple_id: UUID
    effect_keys: list[str]
    closing_at: datetime | None


class BidReconfirmed(OfBid, type="bid.BidReconfirmed.v1", subject="workspace_id"):
    """Somebody decided how the bid goes on after an amendment."""

    tender_opportunity_id: UUID
    amendment_number: int
    ripple_id: UUID
    decision: str
    closing_at: datetime | None


class BidWithdrawn(OfBid, type="bid.BidWithdrawn.v1", subject="workspace_id"):
    """A bid that was submitted was taken back."""

    reason_code: str | None


EVENTS = (
    BidWorkspaceOpened,
    BidWorkspaceChanged,
    BidReconfirmationRequired,
    BidAmendmentNoted,
    BidReconfirmed,
    BidWithdrawn,
)
