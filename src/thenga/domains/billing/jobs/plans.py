"""Jobs of plans: publish versions and update their status."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.billing.jobs.declared import jobs
from thenga.domains.billing.services import (
    plan_admin,
)
from thenga.kernel.db.work import Work


@jobs.implements(plan_admin.offer_plan)
async def offer_plan(work: Work, *, plan_version_id: UUID) -> None:
    """Copy a published version to the catalogue, which only the system login can write."""
    await plan_admin.publish_to_catalogue(work, plan_version_id)


@jobs.every(timedelta(minutes=1))
async def look_after_plans(work: Work) -> None:
    """Update the status of versions that are no longer sold, and count their holders."""
    await plan_admin.refresh_versions(work)
