"""What time does in Organization."""

from datetime import timedelta
from uuid import UUID

from thenga.domains.organization.services import equipment
from thenga.domains.organization.tables import Equipment
from thenga.kernel.db.work import Work
from thenga.kernel.jobs.declare import Jobs
from thenga.kernel.jobs.due import due

jobs = Jobs("organization")


@jobs.every(timedelta(seconds=10))
async def find_expiries(work: Work) -> None:
    """Each machine is told of in its own job, so one failure stops nothing."""
    for organization_id, equipment_id in await due(work, Equipment, limit=500):
        work.enqueue(tell_expiry, organization_id=organization_id, equipment_id=equipment_id)


@jobs.queued(key="{equipment_id}")
async def tell_expiry(work: Work, *, equipment_id: UUID) -> None:
    await equipment.tell_expiry(work, equipment_id)
