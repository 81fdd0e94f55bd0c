"""Plans: what is sold, and what is sold no longer."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.billing.jobs.declared import jobs
from thenga.domains.billing.services import (
    plan_admin,
)
from thenga.kernel.db.work import Work


@jobs.implements(plan_admin.offer_plan)
async def offer_plan(work: Work, *, plan_version_id: UUID) -> None:
    """The catalogue is written by the system login only."""
    await plan_admin.publish_to_catalogue(work, plan_version_id)


@jobs.every(timedelta(minutes=1))
async def look_after_plans(work: Work) -> None:
    """Versions that are not sold any more are written down as such, and counted."""
    await plan_admin.refresh_versions(work)
