"""Jobs that open accepted risks again."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.compliance.jobs.declared import jobs
from thenga.domains.compliance.services import risks
from thenga.domains.compliance.tables import Risk
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, Risk, every=timedelta(minutes=10))
async def lapse_risks(work: Work, *, risk_id: UUID) -> None:
    """Open a risk again on the day after its acceptance ends (CMP-35)."""
    await risks.lapse(work, risk_id)
