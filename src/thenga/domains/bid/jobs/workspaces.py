"""Jobs of workspaces, tasks and suggestions: what time does, and what Billing is told."""

from datetime import datetime, timedelta
from uuid import UUID

import structlog

from thenga.domains.bid.jobs.declared import jobs
from thenga.domains.bid.services import planning, proposals, workspaces
from thenga.domains.bid.tables import SectionSuggestion, Task, Workspace
from thenga.domains.billing.public import Usage, report_use
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run
from thenga.kernel.ports.binding import Unbound

log = structlog.get_logger()
_EVERY = timedelta(seconds=30)


@when_due(jobs, Workspace, every=_EVERY)
async def lapse_workspace(work: Work, *, workspace_id: UUID) -> None:
    """Lapse a bid that was not submitted before the closing."""
    await workspaces.lapse(work, workspace_id)


@when_due(jobs, Task, every=_EVERY)
async def tell_overdue(work: Work, *, task_id: UUID) -> None:
    """Tell once that a task is overdue."""
    await planning.tell_overdue(work, task_id)


@when_due(jobs, SectionSuggestion, every=_EVERY)
async def expire_suggestion(work: Work, *, suggestion_id: UUID) -> None:
    """End a suggestion that nobody decided."""
    await proposals.expire_suggestion(work, suggestion_id)


@jobs.implements(proposals.refresh_matrix)
async def refresh_matrix(work: Work, *, workspace_id: UUID) -> None:
    """Ask again for the evidence of a bid after Compliance told of a change."""
    await proposals.refresh_evidence(work, workspace_id)


@jobs.implements(workspaces.cancel_everywhere)
async def cancel_everywhere(work: Work, *, tender_opportunity_id: UUID, reason: str) -> None:
    """Find the bids on a tender that was cancelled, withdrawn or replaced."""
    await workspaces.spread_cancellation(work, tender_opportunity_id, reason)


@jobs.implements(workspaces.cancel_workspace)
async def cancel_workspace(work: Work, *, workspace_id: UUID, reason: str) -> None:
    """End one bid whose tender was cancelled."""
    await workspaces.cancel(work, workspace_id, reason)


@jobs.implements(workspaces.meter_workspace)
async def meter_workspace(
    run: Run, *, workspace_id: UUID, number: int, operation: str, at: datetime
) -> None:
    """Tell Billing of a workspace that opened or closed; the key makes a repeat count once."""
    try:
        usage = run.port(Usage)
    except Unbound:
        return
    async with run.reading() as read:
        workspace = await read.get(Workspace, workspace_id)
    entry = workspaces.entry_of(workspace, number=number, operation=operation, at=at)
    code = await report_use(usage, organization_id=workspace.organization_id, entry=entry)
    if code is not None:
        log.error("bid.usage.rejected", workspace_id=str(workspace_id), code=code)
