"""Jobs that load tenders and compute readiness."""

from datetime import datetime, timedelta
from uuid import UUID

from thenga.domains.compliance.jobs.declared import jobs
from thenga.domains.compliance.services import readiness, risks, tenders
from thenga.domains.compliance.tables import ReadinessState, TrackedTender
from thenga.domains.opportunity.public import Tenders
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run
from thenga.kernel.ports.binding import Unbound


@when_due(jobs, ReadinessState, every=timedelta(seconds=2))
async def evaluate_organization(work: Work, *, readiness_id: UUID) -> None:
    """Compute readiness and its risks after a change, or on a day that moves them (CMP-32)."""
    computed = await readiness.recompute(work, readiness_id)
    await risks.refresh(work, computed)


@when_due(jobs, TrackedTender, every=timedelta(seconds=10), outside=True)
async def load_tenders(run: Run, *, tracked_tender_id: UUID) -> None:
    """Ask Opportunity for the terms of a tender. Nobody answers: it is computed without terms."""
    async with run.reading() as read:
        tracked = await read.find(TrackedTender, id=tracked_tender_id)
        if tracked is None:
            return
        organization_id, wanted = read.organization_id, tracked.tender_opportunity_id
    told = []
    if tracked.ended_at is None:
        try:
            told = await run.port(Tenders).describe(
                organization_id=organization_id, tender_ids=[wanted]
            )
        except Unbound:
            told = []
    async with run.working() as work:
        await tenders.load_terms(work, tracked_tender_id, next(iter(told), None))


@jobs.every(timedelta(hours=6))
async def delete_ended_tenders(work: Work) -> None:
    """Delete what is known of tenders that closed long ago."""
    await tenders.delete_ended(work)


@jobs.implements(tenders.refresh_everywhere)
async def refresh_everywhere(
    work: Work, *, tender_opportunity_id: UUID, sequence: int, closing_at: datetime | None
) -> None:
    """Tell every company that tracks an amended tender."""
    await tenders.enqueue_refreshes(
        work, tender_opportunity_id, sequence=sequence, closing_at=closing_at
    )


@jobs.implements(tenders.refresh_tracked)
async def refresh_tracked(
    work: Work, *, tender_opportunity_id: UUID, sequence: int, closing_at: datetime | None
) -> None:
    """Take the new closing of a tracked tender, and compute readiness under the same cause."""
    if await tenders.refresh(work, tender_opportunity_id, sequence=sequence, closing_at=closing_at):
        computed = await readiness.recompute(work, work.organization_id)
        await risks.refresh(work, computed)


@jobs.implements(tenders.end_everywhere)
async def end_everywhere(work: Work, *, tender_opportunity_id: UUID, sequence: int) -> None:
    """Tell every company that tracks a tender that it is over."""
    await tenders.enqueue_ends(work, tender_opportunity_id, sequence=sequence)


@jobs.implements(tenders.end_tracked)
async def end_tracked(work: Work, *, tender_opportunity_id: UUID, sequence: int) -> None:
    """Stop computing a tender that is over."""
    await tenders.end(work, tender_opportunity_id, sequence=sequence)
