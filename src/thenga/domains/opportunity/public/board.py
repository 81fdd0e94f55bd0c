"""What Opportunity tells of a company's board of saved tenders."""

from typing import Literal
from uuid import UUID

from thenga.kernel.declare.event import Event

Stage = Literal[
    "saved",
    "reviewing",
    "pursuing",
    "submitted",
    "won",
    "lost",
    "appealing",
    "declined",
    "cancelled",
]
DeclineReason = Literal[
    "too_small",
    "too_large",
    "too_far",
    "no_capacity",
    "not_qualified",
    "unprofitable",
    "buyer_history",
    "short_notice",
    "other",
]


class SavedOpportunityMoved(
    Event, type="opportunity.SavedOpportunityMoved.v1", subject="saved_opportunity_id"
):
    """A saved tender was added or moved to another stage; `previous_stage` is null when added."""

    organization_id: UUID
    saved_opportunity_id: UUID
    tender_opportunity_id: UUID
    stage: Stage
    previous_stage: Stage | None
    decline_reason: DeclineReason | None
    led_by: Literal["organization", "bid"]


EVENTS = (SavedOpportunityMoved,)
