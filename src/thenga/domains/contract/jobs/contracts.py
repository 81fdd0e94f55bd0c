"""Jobs of contracts: late milestones are told, and Billing hears of open contracts."""

from datetime import timedelta
from uuid import UUID

import structlog

from thenga.domains.billing.public import Usage, report_use
from thenga.domains.contract.jobs.declared import jobs
from thenga.domains.contract.services import delivery, workspaces
from thenga.domains.contract.tables import Milestone
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run
from thenga.kernel.ports.binding import Unbound

log = structlog.get_logger()


@when_due(jobs, Milestone, every=timedelta(minutes=1))
async def tell_milestones(work: Work, *, milestone_id: UUID) -> None:
    """Tell that a milestone is at risk or overdue, once for each reason (CON-12)."""
    await delivery.tell_milestone(work, milestone_id)


@jobs.implements(workspaces.meter_workspace)
async def meter_workspace(run: Run, *, workspace_id: UUID, occasion: str) -> None:
    """Tell Billing that a contract holds or releases a place of the plan. Its key counts once."""
    try:
        usage = run.port(Usage)
    except Unbound:
        return
    async with run.reading() as read:
        entry = await workspaces.usage_of(read, workspace_id, occasion)
        organization_id = read.organization_id
    code = await report_use(usage, organization_id=organization_id, entry=entry)
    if code is not None:
        log.error("contract.usage.rejected", workspace_id=str(workspace_id), code=code)
