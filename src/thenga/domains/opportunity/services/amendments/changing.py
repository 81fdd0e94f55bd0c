"""What the keeper changes in a tender by hand."""

from typing import Any
from uuid import UUID

from thenga.domains.opportunity.services import notices
from thenga.domains.opportunity.services.amendments.amending import amend
from thenga.domains.opportunity.services.amendments.moving import end
from thenga.domains.opportunity.services.releases import number_key
from thenga.domains.opportunity.tables import TenderOpportunity, TenderStatus
from thenga.kernel.db.rows import merge_patch
from thenga.kernel.db.work import Work
from thenga.kernel.errors import PreconditionRequired


async def change(
    work: Work,
    tender_id: UUID,
    fields: dict[str, Any],
    *,
    buyer_reference: str | None = None,
    note: str | None = None,
    move: str | None = None,
    **arguments: Any,
) -> TenderOpportunity:
    """Change fields, make one move, or both; a published tender is amended (OPP-44)."""
    is_blind = work.if_match is None
    tender = await notices.keep(work, tender_id)
    if is_blind and tender.status is not TenderStatus.DRAFT:
        raise PreconditionRequired()
    columns = notices.columns_of(fields)
    changed = merge_patch(tender, columns)
    new = {name: columns[name] for name in changed}
    await notices.check_platform_fields(work, new, tender_id=tender.id)
    if "closing_at" in changed or "closing_precision" in changed:
        notices.check_closing(work, tender.closing_at, tender.closing_precision)
    if "tender_number" in changed:
        tender.number_key = number_key(tender.tender_number)
    if changed:
        await amend(work, tender, origin="buyer", buyer_reference=buyer_reference, note=note)
    if move is not None:
        await end(work, tender, move, **arguments)
    return tender
