"""Jobs of tenders: moves by time, and what an amendment touches."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.opportunity.jobs.declared import jobs
from thenga.domains.opportunity.services import amendments, board, notices
from thenga.domains.opportunity.tables import Amendment, TenderOpportunity
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, TenderOpportunity, every=timedelta(seconds=30))
async def move_opportunity(work: Work, *, tender_opportunity_id: UUID) -> None:
    """Open or close a tender at its time, by the clock of its keeper (OPP-12)."""
    await amendments.move_by_time(work, tender_opportunity_id)


@jobs.implements(amendments.ripple_amendment)
async def ripple_amendment(
    work: Work, *, amendment_id: str, tender_opportunity_id: UUID, number: int, event_id: UUID
) -> None:
    """Find the companies that an amendment touches (OPP-45)."""
    await amendments.begin(work, tender_opportunity_id, number, event_id)


@jobs.implements(amendments.ripple_organization)
async def ripple_organization(work: Work, *, amendment_id: UUID) -> None:
    """Make what an amendment touches in one company stale, and note it."""
    amendment = await work.get(Amendment, amendment_id)
    tender = await work.get(TenderOpportunity, amendment.tender_opportunity_id)
    effects = await board.ripple_effects(work, tender, amendment) if amendment.material else []
    effects += [
        ("deadline_moved", f"deadline/{one.id}")
        for one in await notices.rederive(work, tender)
        if one.organization_id != tender.organization_id
    ]
    await amendments.note(work, tender, amendment, effects)
