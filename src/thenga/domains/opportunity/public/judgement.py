"""What Opportunity tells one company of its own chances: matches, qualification, recommendation."""

from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from pydantic import BaseModel

from thenga.domains.opportunity.public.notices import VALUE
from thenga.kernel.declare.event import Event

Band = Literal["strong", "good", "possible", "weak", "insufficient"]
QualificationVerdict = Literal[
    "qualified", "conditional", "not_qualified", "insufficient_information"
]
RecommendationVerdict = Literal[
    "strong_bid",
    "bid_minor_gaps",
    "bid_with_partner",
    "high_risk",
    "do_not_bid",
    "insufficient_information",
]


class Because(BaseModel):
    """Why a tender is shown: the company's own profile, or one of its watchlists.

    `owner_user_id` is null where everybody who may read matches is told.
    """

    model_config = VALUE

    kind: Literal["match", "watchlist"]
    watchlist_id: UUID | None = None
    owner_user_id: UUID | None = None


class OpportunityMatched(Event, type="opportunity.OpportunityMatched.v1", subject="match_id"):
    """A tender fits a company or one of its watchlists.

    Score, band and coverage are null where only a watchlist matches.
    """

    organization_id: UUID
    match_id: UUID
    tender_opportunity_id: UUID
    score: Decimal | None
    band: Band | None
    coverage: Decimal | None
    because: list[Because]
    label: str
    closing_at: datetime | None


class QualificationCompleted(
    Event, type="opportunity.QualificationCompleted.v1", subject="qualification_id"
):
    """A person completed the qualification. `unmet` are the codes of requirements not met."""

    organization_id: UUID
    qualification_id: UUID
    tender_opportunity_id: UUID
    revision: int
    verdict: QualificationVerdict
    unmet: list[str]


class QualificationStale(
    Event, type="opportunity.QualificationStale.v1", subject="qualification_id"
):
    """What a completed qualification rests on has changed."""

    organization_id: UUID
    qualification_id: UUID
    tender_opportunity_id: UUID
    revision: int
    verdict: QualificationVerdict
    stale_reasons: list[str]


class RecommendationChanged(
    Event, type="opportunity.RecommendationChanged.v1", subject="recommendation_id"
):
    """The recommendation to bid was proposed again, accepted or overridden."""

    organization_id: UUID
    recommendation_id: UUID
    tender_opportunity_id: UUID
    verdict: RecommendationVerdict
    status: Literal["proposed", "accepted", "overridden"]
    preliminary: bool


EVENTS = (OpportunityMatched, QualificationCompleted, QualificationStale, RecommendationChanged)
