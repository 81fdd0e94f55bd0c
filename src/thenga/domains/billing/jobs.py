"""What Billing does later and what time does in it."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.billing.services import plan_versions, trials, verifications
from thenga.domains.billing.tables import Trial
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.declare import Jobs
from thenga.kernel.jobs.due import due

jobs = Jobs("billing")


@jobs.carries_out(plan_versions.offer_plan)
async def offer_plan(work: Work, *, plan_version_id: UUID) -> None:
    """The catalogue is written by the system login only."""
    await plan_versions.offer(work, plan_version_id)


@jobs.every(timedelta(minutes=1))
async def look_after_plans(work: Work) -> None:
    """Versions that are not sold any more are written down as such, and counted."""
    await plan_versions.look_after(work)


@jobs.every(timedelta(seconds=10))
async def find_due_trials(work: Work) -> None:
    """Each trial is moved in its own job, so one failure stops nothing."""
    for organization_id, trial_id in await due(work, Trial, limit=500):
        work.enqueue(move_trial, organization_id=organization_id, trial_id=trial_id)


@jobs.queued(key="{trial_id}")
async def move_trial(work: Work, *, trial_id: UUID) -> None:
    await trials.pass_time(work, trial_id)


@jobs.every(timedelta(minutes=10))
async def verify_ledger(work: Work) -> None:
    """All books are checked once a day, after two in the morning."""
    await verifications.verify(work)
