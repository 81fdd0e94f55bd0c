"""What follows from Opportunity's own events: matching, and the boards that a tender is on."""

from uuid import UUID

from thenga.domains.opportunity.public import (
    AttendanceRecorded,
    DeadlineChanged,
    QualificationCompleted,
    TenderOpportunityAmended,
    TenderOpportunityClosed,
    TenderOpportunityPublished,
)
from thenga.domains.opportunity.reactions.declared import reactions
from thenga.domains.opportunity.services import board, matching, qualification
from thenga.domains.opportunity.tables import TenderOpportunity
from thenga.kernel.db.work import Work


@reactions.on(TenderOpportunityPublished)
async def match_published(work: Work, event: TenderOpportunityPublished) -> None:
    """Match a new tender with every company; a capture with its keeper alone (OPP-34)."""
    if event.organization_id is None:
        work.enqueue(
            matching.begin_matching,
            tender_opportunity_id=event.tender_opportunity_id,
            occasion="published",
            run_id=None,
            alerts=not event.backfilled,
        )
        return
    await _match_own(work, event.tender_opportunity_id, alerts=not event.backfilled)


@reactions.on(TenderOpportunityAmended)
async def match_amended(work: Work, event: TenderOpportunityAmended) -> None:
    """Match a tender again after a material amendment."""
    if not event.material:
        return
    if event.organization_id is None:
        work.enqueue(
            matching.begin_matching,
            tender_opportunity_id=event.tender_opportunity_id,
            occasion=f"amendment {event.amendment_number}",
            run_id=None,
            alerts=True,
        )
        return
    await _match_own(work, event.tender_opportunity_id)


async def _match_own(work: Work, tender_id: UUID, *, alerts: bool = True) -> None:
    tender = await work.find(TenderOpportunity, id=tender_id)
    if tender is None:
        return
    if not alerts:
        await matching.store_own(work, tender)
        return
    await board.percolate(work, tender, only=work.organization_id)
    await board.alert_company(work, tender.id, tender.material_revision)


@reactions.on(TenderOpportunityClosed)
async def end_on_boards(work: Work, event: TenderOpportunityClosed) -> None:
    """A tender that was cancelled, withdrawn or replaced asks for attention (OPP-42)."""
    if event.reason == "closing_time":
        return
    await _update(work, event.tender_opportunity_id, event.organization_id, event.reason)


@reactions.on(DeadlineChanged)
async def follow_deadline(work: Work, event: DeadlineChanged) -> None:
    """A moved date is told anew on every board that has the tender (OPP-29)."""
    occasion = f"dates {event.due_at.isoformat()}"
    await _update(work, event.tender_opportunity_id, event.organization_id, occasion)


@reactions.on(QualificationCompleted)
async def judge_again(work: Work, event: QualificationCompleted) -> None:
    """A stored recommendation follows the qualification (OPP-38)."""
    await qualification.recompute_stored(work, event.tender_opportunity_id)


@reactions.on(AttendanceRecorded)
async def judge_after_briefing(work: Work, event: AttendanceRecorded) -> None:
    """A missed compulsory briefing decides whether to bid (OPP-27)."""
    await qualification.recompute_stored(work, event.tender_opportunity_id)


async def _update(work: Work, tender_id: UUID, organization_id: UUID | None, occasion: str) -> None:
    if organization_id is None:
        work.enqueue(board.spread_to_boards, tender_opportunity_id=tender_id, occasion=occasion)
        return
    await board.update_board(work, tender_id, occasion)
