"""Jobs of amendments and published awards: one for each bid that they touch."""

import json
from uuid import UUID

from thenga.domains.bid.jobs.declared import jobs
from thenga.domains.bid.services import amendments, outcomes
from thenga.kernel.db.work import Work


@jobs.implements(amendments.ripple_everywhere)
async def ripple_everywhere(
    work: Work,
    *,
    tender_opportunity_id: UUID,
    amendment_number: int,
    material: bool,
    event_id: UUID,
) -> None:
    """Find the bids on an amended tender."""
    await amendments.spread(
        work,
        tender_opportunity_id,
        amendment_number=amendment_number,
        material=material,
        event_id=event_id,
    )


@jobs.implements(amendments.apply_ripple)
async def apply_ripple(
    work: Work, *, workspace_id: UUID, amendment_number: int, material: bool, event_id: UUID
) -> None:
    """Apply an amendment to one bid, once."""
    await amendments.apply(
        work,
        workspace_id,
        amendment_number=amendment_number,
        material=material,
        event_id=event_id,
    )


@jobs.implements(amendments.refresh_everywhere)
async def refresh_everywhere(work: Work, *, tender_opportunity_id: UUID, event_id: UUID) -> None:
    """Find the bids on a tender whose requirements or dates changed."""
    await amendments.spread_refresh(work, tender_opportunity_id)


@jobs.implements(amendments.refresh_workspace)
async def refresh_workspace(work: Work, *, workspace_id: UUID) -> None:
    """Bring one bid to the requirements and dates of its tender."""
    await amendments.refresh_tender(work, workspace_id)


@jobs.implements(outcomes.hint_everywhere)
async def hint_everywhere(
    work: Work, *, tender_opportunity_id: UUID, event_id: UUID, awards: str
) -> None:
    """Find the bids on a tender whose award was published."""
    await outcomes.spread_hint(work, tender_opportunity_id, event_id, awards)


@jobs.implements(outcomes.hint_workspace)
async def hint_workspace(work: Work, *, workspace_id: UUID, event_id: UUID, awards: str) -> None:
    """Show a published award beside the outcome of one bid."""
    await outcomes.store_hint(work, workspace_id, {"awards": json.loads(awards)})
