"""Jobs of the board: deadlines told, dead tenders taken off, watchlists reported to Billing."""

from datetime import timedelta
from uuid import UUID

import structlog

from thenga.domains.billing.public import Usage, report_use
from thenga.domains.opportunity.jobs.declared import jobs
from thenga.domains.opportunity.services import board
from thenga.domains.opportunity.tables import SavedOpportunity
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run
from thenga.kernel.ports.binding import Unbound

log = structlog.get_logger()


@when_due(jobs, SavedOpportunity, every=timedelta(seconds=30))
async def tell_deadlines(work: Work, *, saved_opportunity_id: UUID) -> None:
    """Tell a company of the deadlines of a saved tender that come near (OPP-29)."""
    await board.run_due_step(work, saved_opportunity_id)


@jobs.implements(board.meter_watchlist)
async def meter_watchlist(run: Run, *, watchlist_id: UUID, occasion: str) -> None:
    """Tell Billing that a watchlist is held or released. Its key counts once."""
    try:
        usage = run.port(Usage)
    except Unbound:
        return
    async with run.reading() as read:
        entry = await board.usage_of(read, watchlist_id, occasion)
        organization_id = read.organization_id
    code = await report_use(usage, organization_id=organization_id, entry=entry)
    if code is not None:
        log.error("opportunity.usage.rejected", watchlist_id=str(watchlist_id), code=code)


@jobs.implements(board.spread_to_boards)
async def spread_to_boards(work: Work, *, tender_opportunity_id: UUID, occasion: str) -> None:
    """Have a change of a shared tender applied to each board that it is on."""
    await work.switch_scope()
    for organization_id in await board.companies_that_saved(work, tender_opportunity_id):
        work.enqueue(
            update_board,
            organization_id=organization_id,
            tender_opportunity_id=tender_opportunity_id,
            occasion=occasion,
        )


@jobs.queued(key="{tender_opportunity_id}:{occasion}")
async def update_board(work: Work, *, tender_opportunity_id: UUID, occasion: str) -> None:
    """A saved tender has ended, or its dates have moved."""
    await board.update_board(work, tender_opportunity_id, occasion)
