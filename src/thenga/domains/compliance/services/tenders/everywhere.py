"""What a shared tender's event does: one job for each company that tracks the tender."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.compliance.tables import TrackedTender
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

_MOST = 10_000

refresh_everywhere = job_stub(
    "compliance.refresh_everywhere",
    form=Form.QUEUED,
    key="{tender_opportunity_id}:{sequence}",
    as_system=True,
)
end_everywhere = job_stub(
    "compliance.end_everywhere",
    form=Form.QUEUED,
    key="{tender_opportunity_id}:{sequence}",
    as_system=True,
)
refresh_tracked = job_stub(
    "compliance.refresh_tracked",
    form=Form.QUEUED,
    key="{tender_opportunity_id}:{sequence}",
)
end_tracked = job_stub(
    "compliance.end_tracked", form=Form.QUEUED, key="{tender_opportunity_id}:{sequence}"
)


async def enqueue_refreshes(
    work: Work, tender_opportunity_id: UUID, *, sequence: int, closing_at: datetime | None
) -> None:
    """One job for each company that tracks an amended tender."""
    for organization_id in await _trackers(work, tender_opportunity_id):
        work.enqueue(
            refresh_tracked,
            organization_id=organization_id,
            tender_opportunity_id=tender_opportunity_id,
            sequence=sequence,
            closing_at=closing_at,
        )


async def enqueue_ends(work: Work, tender_opportunity_id: UUID, *, sequence: int) -> None:
    """One job for each company that tracks a tender that is over."""
    for organization_id in await _trackers(work, tender_opportunity_id):
        work.enqueue(
            end_tracked,
            organization_id=organization_id,
            tender_opportunity_id=tender_opportunity_id,
            sequence=sequence,
        )


async def _trackers(work: Work, tender_opportunity_id: UUID) -> list[UUID]:
    statement = select(TrackedTender.organization_id).where(
        TrackedTender.tender_opportunity_id == tender_opportunity_id,
        TrackedTender.ended_at.is_(None),
    )
    return await work.values(statement, limit=_MOST)
