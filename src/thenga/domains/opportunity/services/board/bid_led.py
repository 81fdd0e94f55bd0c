"""Stages that Bid leads, by what it tells of a workspace (OPP-42)."""

from uuid import UUID

from thenga.domains.opportunity.services.board import deadlines, saved
from thenga.domains.opportunity.tables import LedBy, SavedOpportunity, Stage, TenderOpportunity
from thenga.kernel.db.work import Work


async def open_workspace(work: Work, tender_id: UUID, workspace_id: UUID, sequence: int) -> None:
    """A bid is prepared: the tender is on the board, in pursuit, and Bid leads it from now on."""
    tender = await work.find(TenderOpportunity, id=tender_id)
    if tender is None:
        return
    known = await work.find(SavedOpportunity, tender_opportunity_id=tender_id)
    if known is None:
        await saved.save(work, tender_id, {})
    await _lead(work, tender, workspace_id, sequence, Stage.PURSUING, opens=True)


async def follow_bid(
    work: Work, tender_id: UUID | None, workspace_id: UUID, sequence: int, stage: Stage
) -> None:
    """The bid has got further; what is older than the last news changes nothing."""
    tender = None if tender_id is None else await work.find(TenderOpportunity, id=tender_id)
    if tender is not None:
        await _lead(work, tender, workspace_id, sequence, stage, opens=False)


async def _lead(
    work: Work,
    tender: TenderOpportunity,
    workspace_id: UUID,
    sequence: int,
    stage: Stage,
    *,
    opens: bool,
) -> None:
    if await work.find(SavedOpportunity, tender_opportunity_id=tender.id) is None:
        return
    row = await work.lock_by(SavedOpportunity, tender_opportunity_id=tender.id)
    is_other = row.bid_workspace_id not in (None, workspace_id) and not opens
    if is_other or (row.bid_workspace_id == workspace_id and sequence <= row.bid_sequence):
        return
    previous = row.stage
    row.led_by, row.bid_workspace_id, row.bid_sequence = LedBy.BID, workspace_id, sequence
    if row.stage is not stage:
        # Bid decides what happened: its news may skip stages of the board.
        row.stage, row.stage_changed_at, row.decline_reason = stage, work.now, None
    await deadlines.plan(work, row, tender)
    await work.save(row)
    if previous is not stage:
        work.publish(saved.moved(row, previous))
