"""What Opportunity tells of tenders: amendments, cancellations, awards, requirements and dates.

Events of a shared tender have no tenant, so a job finds the bids that they touch.
"""

import json
from uuid import UUID

from thenga.domains.bid.reactions.declared import reactions
from thenga.domains.bid.services import amendments, outcomes, workspaces
from thenga.domains.opportunity import public as opportunity
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope

_ENDS = frozenset(("cancelled", "withdrawn", "superseded"))


@reactions.on_type(opportunity.TenderOpportunityAmended.type)
async def apply_amendment(work: Work, envelope: Envelope) -> None:
    """Find what an amendment touches; the jobs carry the event's id as their cause (BID-49)."""
    event = opportunity.TenderOpportunityAmended.model_validate(envelope.data)
    work.enqueue(
        amendments.ripple_everywhere,
        tender_opportunity_id=event.tender_opportunity_id,
        amendment_number=event.amendment_number,
        material=event.material,
        event_id=envelope.id,
    )


@reactions.on(opportunity.TenderOpportunityClosed)
async def end_bids(work: Work, event: opportunity.TenderOpportunityClosed) -> None:
    """A tender that was cancelled, withdrawn or replaced ends the bids on it."""
    if event.reason in _ENDS:
        work.enqueue(
            workspaces.cancel_everywhere,
            tender_opportunity_id=event.tender_opportunity_id,
            reason=event.reason,
        )


@reactions.on_type(opportunity.TenderOpportunityAwarded.type)
async def hint_at_award(work: Work, envelope: Envelope) -> None:
    """A published award is shown beside the outcome and decides nothing (BID-51)."""
    event = opportunity.TenderOpportunityAwarded.model_validate(envelope.data)
    awards = [
        {
            "awardId": one.award_id,
            "date": None if one.date is None else one.date.isoformat(),
            "value": None if one.value is None else f"{one.value.currency} {one.value.minor}",
        }
        for one in event.awards[:20]
    ]
    work.enqueue(
        outcomes.hint_everywhere,
        tender_opportunity_id=event.tender_opportunity_id,
        event_id=envelope.id,
        awards=json.dumps(awards),
    )


@reactions.on_type(opportunity.TenderRequirementsChanged.type)
async def refresh_requirements(work: Work, envelope: Envelope) -> None:
    """Rows of the matrix are new, changed or gone."""
    event = opportunity.TenderRequirementsChanged.model_validate(envelope.data)
    _refresh(work, event.tender_opportunity_id, envelope.id)


@reactions.on_type(opportunity.BriefingScheduled.type)
async def refresh_briefing(work: Work, envelope: Envelope) -> None:
    """A briefing joins the plan."""
    event = opportunity.BriefingScheduled.model_validate(envelope.data)
    _refresh(work, event.tender_opportunity_id, envelope.id)


@reactions.on_type(opportunity.DeadlineChanged.type)
async def refresh_deadline(work: Work, envelope: Envelope) -> None:
    """A date of the tender moved."""
    event = opportunity.DeadlineChanged.model_validate(envelope.data)
    _refresh(work, event.tender_opportunity_id, envelope.id)


@reactions.on_type(opportunity.AttendanceRecorded.type)
async def refresh_attendance(work: Work, envelope: Envelope) -> None:
    """The company attended a briefing, or missed it."""
    event = opportunity.AttendanceRecorded.model_validate(envelope.data)
    _refresh(work, event.tender_opportunity_id, envelope.id)


def _refresh(work: Work, tender_id: UUID, event_id: UUID) -> None:
    work.enqueue(amendments.refresh_everywhere, tender_opportunity_id=tender_id, event_id=event_id)
