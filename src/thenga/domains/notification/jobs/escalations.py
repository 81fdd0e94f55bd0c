"""Jobs that take the next step of an escalation."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.notification.jobs.declared import jobs
from thenga.domains.notification.services import escalations
from thenga.domains.notification.tables import Escalation
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due


@when_due(jobs, Escalation, every=timedelta(seconds=10))
async def step_escalation(work: Work, *, escalation_id: UUID) -> None:
    """Tell the next people of an escalation that nobody resolved."""
    await escalations.step_escalation(work, escalation_id)
