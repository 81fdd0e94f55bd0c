"""What Opportunity does after it has published an event of its own."""

from thenga.domains.opportunity.public import TenderOpportunityAmended
from thenga.domains.opportunity.reactions.declared import reactions
from thenga.domains.opportunity.services import amendments
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope


@reactions.on_type(TenderOpportunityAmended.type)
async def ripple(work: Work, envelope: Envelope) -> None:
    """Find what an amendment touches. The jobs carry the event's id as their cause (OPP-45)."""
    event = TenderOpportunityAmended.model_validate(envelope.data)
    work.enqueue(
        amendments.ripple_amendment,
        amendment_id=f"{event.tender_opportunity_id}:{event.amendment_number}",
        tender_opportunity_id=event.tender_opportunity_id,
        number=event.amendment_number,
        event_id=envelope.id,
    )
