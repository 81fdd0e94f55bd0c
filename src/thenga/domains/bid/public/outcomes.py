"""What Bid tells of the outcome of a bid, and what Contract may ask about an award."""

from abc import abstractmethod
from datetime import date
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from thenga.domains.bid.public.of_bids import OfBid
from thenga.kernel.declare.port import Port, idempotent
from thenga.kernel.values.money import Money
from thenga.kernel.values.references import Reference

_VALUE = ConfigDict(frozen=True)

OutcomeResult = Literal["pending", "won", "lost", "disqualified", "cancelled"]
OutcomeStage = Literal["evaluation", "clarification", "shortlisted", "presentation", "negotiation"]
LossReason = Literal[
    "price_too_high",
    "price_arithmetic",
    "preference_points_low",
    "preference_proof_missing",
    "functionality_below_threshold",
    "form_missing",
    "form_incomplete",
    "form_unsigned",
    "document_expired",
    "tax_non_compliant",
    "csd_inactive",
    "cidb_grade_low",
    "late_submission",
    "briefing_missed",
    "experience_insufficient",
    "capacity_insufficient",
    "local_content_low",
    "restricted_listed",
    "objective_criteria",
    "validity_expired",
    "no_feedback",
    "other",
]
AppealStatus = Literal["none", "lodged", "upheld", "dismissed"]


class Bidder(BaseModel):
    """One member of the bidding group and its share."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    key: str
    ref: Reference | None = None
    share_percent: Decimal | None = None


class BidAwarded(OfBid, type="bid.BidAwarded.v1", subject="workspace_id"):
    """The company won; `buyer_name` is there only for tenders outside of the platform."""

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
    OfBid, type="bid.ContractCreationRecorded.v1", subject="workspace_id"
):
    """A contract was won outside of the platform, with at least one document that shows it."""

    outcome_id: UUID
    award_reference: str | None
    awarded_on: date
    awarded_value: Money | None
    buyer_name: str | None
    document_refs: list[Reference]
    pack_id: UUID | None
    manifest_sha256: str | None
    bidders: list[Bidder]


class BidAwardSetAside(OfBid, type="bid.BidAwardSetAside.v1", subject="workspace_id"):
    """An award does not hold any more; the bid counts as submitted again."""

    outcome_id: UUID
    award_reference: str | None
    reason_code: str | None


class BidLost(OfBid, type="bid.BidLost.v1", subject="workspace_id"):
    """The company did not win, and which codes of reasons are known."""

    outcome_id: UUID
    result: Literal["lost", "disqualified", "cancelled"]
    reasons: list[str]
    our_scores: dict[str, Decimal] | None = None
    winner_scores: dict[str, Decimal] | None = None
    bid_total: Money | None = None


class BidOutcomeChanged(OfBid, type="bid.BidOutcomeChanged.v1", subject="workspace_id"):
    """The stage, the result or the appeal of a bid changed."""

    outcome_id: UUID
    result: OutcomeResult
    stage: OutcomeStage | None
    appeal: AppealStatus


class PriceLine(BaseModel):
    """One item of the price that won."""

    model_config = _VALUE

    key: str
    description: str
    unit: str | None
    quantity: Decimal | None
    unit_rate: Decimal | None
    amount: Money


class PricePeriod(BaseModel):
    """One period of the price that won."""

    model_config = _VALUE

    key: str
    months: int | None
    amount: Money


class Award(BaseModel):
    """An award as the company recorded it, with the price that won."""

    model_config = _VALUE

    value: Money | None
    reference: str | None
    awarded_on: date
    price_lines: list[PriceLine]
    periods: list[PricePeriod]
    validity_days: int | None
    bidders: list[Bidder]
    manifest_sha256: str | None


class Awards(Port, name="bid.awards", timeout=1.0):
    """An award with the price behind it, for Contract; null where there is none.

    Silence: the contract is opened from the event alone.
    """

    @abstractmethod
    @idempotent
    async def describe(self, *, organization_id: UUID, outcome_id: UUID) -> Award | None: ...


EVENTS = (
    BidAwarded,
    ContractCreationRecorded,
    BidAwardSetAside,
    BidLost,
    BidOutcomeChanged,
)
