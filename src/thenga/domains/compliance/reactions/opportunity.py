"""What Compliance does when Opportunity publishes an event."""

from uuid import UUID

from thenga.domains.compliance.reactions.declared import reactions
from thenga.domains.compliance.services import tenders
from thenga.domains.opportunity import public as opportunity
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope


@reactions.on(opportunity.OpportunityMatched)
async def track_match(work: Work, event: opportunity.OpportunityMatched) -> None:
    """A tender that fits the company is tracked, and its terms are asked for."""
    await tenders.track(
        work,
        event.tender_opportunity_id,
        interest=tenders.MATCHED,
        closing_at=event.closing_at,
    )


@reactions.on_type(opportunity.TenderOpportunityAmended.type)
async def refresh_tender(work: Work, envelope: Envelope) -> None:
    """The new closing of an amended tender counts for every company that tracks it (CMP-30)."""
    event = opportunity.TenderOpportunityAmended.model_validate(envelope.data)
    sequence = envelope.sequence or 0
    work.enqueue(
        tenders.refresh_tracked if work.has_organization else tenders.refresh_everywhere,
        tender_opportunity_id=event.tender_opportunity_id,
        sequence=sequence,
        closing_at=event.closing_at,
    )


@reactions.on(opportunity.TenderRequirementsChanged)
async def ask_for_own_terms(work: Work, event: opportunity.TenderRequirementsChanged) -> None:
    """What a company itself adds to a shared tender counts for it; the rest is an amendment."""
    if work.has_organization:
        await tenders.ask_again(work, event.tender_opportunity_id)


@reactions.on_type(opportunity.TenderOpportunityClosed.type)
async def end_closed_tender(work: Work, envelope: Envelope) -> None:
    """A tender that has closed is no longer computed."""
    event = opportunity.TenderOpportunityClosed.model_validate(envelope.data)
    await _end(work, event.tender_opportunity_id, envelope.sequence or 0)


@reactions.on_type(opportunity.TenderOpportunityAwarded.type)
async def end_awarded_tender(work: Work, envelope: Envelope) -> None:
    """A tender that was awarded is no longer computed."""
    event = opportunity.TenderOpportunityAwarded.model_validate(envelope.data)
    await _end(work, event.tender_opportunity_id, envelope.sequence or 0)


async def _end(work: Work, tender_opportunity_id: UUID, sequence: int) -> None:
    if work.has_organization:
        await tenders.end(work, tender_opportunity_id, sequence=sequence)
        return
    work.enqueue(
        tenders.end_everywhere, tender_opportunity_id=tender_opportunity_id, sequence=sequence
    )
