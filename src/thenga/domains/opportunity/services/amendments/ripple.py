"""What an amendment touched in one company, under one cause (OPP-45, OPP-46)."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import select

from thenga.domains.opportunity.tables import (
    Amendment,
    Deadline,
    Match,
    Qualification,
    Recommendation,
    RippleEntry,
    RippleState,
    SavedOpportunity,
    TenderOpportunity,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub

_HELD = (Match, Qualification, Recommendation, SavedOpportunity)
_MOST = 100_000

ripple_amendment = job_stub(
    "opportunity.ripple_amendment", form=Form.QUEUED, key="{amendment_id}", as_system=True
)
ripple_organization = job_stub(
    "opportunity.ripple_organization", form=Form.QUEUED, key="{amendment_id}"
)


async def begin(work: Work, tender_id: UUID, number: int, event_id: UUID) -> None:
    """Find the amendment of an event and who is touched by it; for a job of the system login."""
    amendment = await work.find(Amendment, tender_opportunity_id=tender_id, number=number)
    if amendment is None:
        return
    held = await work.lock(Amendment, amendment.id)
    held.event_id = event_id
    await work.save(held)
    parts = [
        select(row.organization_id).where(row.tender_opportunity_id == tender_id) for row in _HELD
    ]
    own = select(Deadline.organization_id).where(
        Deadline.tender_opportunity_id == tender_id, ~Deadline.shared
    )
    touched = sa.union(*parts, own).subquery("touched")
    for organization_id in await work.values(select(touched.c.organization_id), limit=_MOST):
        work.enqueue(
            ripple_organization, organization_id=organization_id, amendment_id=amendment.id
        )


async def note(
    work: Work,
    tender: TenderOpportunity,
    amendment: Amendment,
    effects: Sequence[tuple[str, str]],
) -> None:
    """Keep what was done for this company; done again, it stays one entry."""
    for effect, reference in effects:
        known = await work.find(
            RippleEntry, amendment_id=amendment.id, effect=effect, reference=reference
        )
        if known is None:
            await work.add(
                RippleEntry(
                    organization_id=work.organization_id,
                    tender_opportunity_id=tender.id,
                    amendment_id=amendment.id,
                    amendment_number=amendment.number,
                    domain="opportunity",
                    effect=effect,
                    reference=reference,
                    state=RippleState.DONE,
                    at=work.now,
                    event_id=amendment.event_id,
                )
            )


async def list_amendments(
    read: Reader,
    tender_id: UUID,
    paged: Paged,
    *,
    material: bool | None,
    after_number: int | None,
) -> tuple[Slice[Amendment], dict[UUID, list[RippleEntry]]]:
    """The amendments of a tender, and what each touched for the caller."""
    await read.get(TenderOpportunity, tender_id)
    statement = select(Amendment).where(Amendment.tender_opportunity_id == tender_id)
    if material is not None:
        statement = statement.where(Amendment.material == material)
    if after_number is not None:
        statement = statement.where(Amendment.number > after_number)
    found = await read.page(statement, paged, Amendment.number)
    entries: dict[UUID, list[RippleEntry]] = {}
    if read.has_organization:
        mine = select(RippleEntry).where(RippleEntry.tender_opportunity_id == tender_id)
        for entry in await read.all(mine.order_by(RippleEntry.id)):
            entries.setdefault(entry.amendment_id, []).append(entry)
    return found, entries
