"""Jobs that plan, release and complete requests."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.notification.jobs.declared import jobs
from thenga.domains.notification.services import requests
from thenga.domains.notification.tables import Request
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.due import when_due
from thenga.kernel.jobs.run import Run


@jobs.implements(requests.plan_batch)
async def plan_batch(run: Run, *, request_id: UUID, batch: int) -> None:
    """Plan the next 200 people; Identity is asked while no transaction is open (NOT-36)."""
    async with run.reading() as read:
        request = await requests.batch_to_plan(read, request_id, batch)
    if request is None:
        return
    found = await requests.ask_batch(run, request)
    async with run.working() as work:
        await requests.plan_people(work, request_id, batch, found)


@when_due(jobs, Request, every=timedelta(seconds=5))
async def advance_request(work: Work, *, request_id: UUID) -> None:
    """Release a scheduled request, have a lost batch planned again, expire what is over."""
    await requests.run_due_steps(work, request_id)
