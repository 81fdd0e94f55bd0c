"""What Bid tells of its workspaces: it leads the board from then on (OPP-42)."""

from uuid import UUID

from thenga.domains.bid import public as bid
from thenga.domains.opportunity.reactions.declared import reactions
from thenga.domains.opportunity.services import board
from thenga.domains.opportunity.tables import Stage
from thenga.kernel.db.work import Work
from thenga.kernel.declare.event import Envelope


@reactions.on_type(bid.BidWorkspaceOpened.type)
async def pursue_with_workspace(work: Work, envelope: Envelope) -> None:
    """A tender for which a bid is prepared is on the board, in pursuit."""
    event = bid.BidWorkspaceOpened.model_validate(envelope.data)
    if event.tender_opportunity_id is not None:
        await board.open_workspace(
            work, event.tender_opportunity_id, event.workspace_id, envelope.sequence or 0
        )


@reactions.on_type(bid.BidSubmitted.type)
async def show_submitted(work: Work, envelope: Envelope) -> None:
    """The bid was submitted."""
    event = bid.BidSubmitted.model_validate(envelope.data)
    await _follow(work, event.tender_opportunity_id, event.workspace_id, envelope, Stage.SUBMITTED)


@reactions.on_type(bid.BidAwarded.type)
async def show_won(work: Work, envelope: Envelope) -> None:
    """The company won."""
    event = bid.BidAwarded.model_validate(envelope.data)
    await _follow(work, event.tender_opportunity_id, event.workspace_id, envelope, Stage.WON)


@reactions.on_type(bid.BidLost.type)
async def show_lost(work: Work, envelope: Envelope) -> None:
    """Another company won."""
    event = bid.BidLost.model_validate(envelope.data)
    await _follow(work, event.tender_opportunity_id, event.workspace_id, envelope, Stage.LOST)


@reactions.on_type(bid.BidAwardSetAside.type)
async def show_submitted_again(work: Work, envelope: Envelope) -> None:
    """The award was set aside, so the bid stands again."""
    event = bid.BidAwardSetAside.model_validate(envelope.data)
    await _follow(work, event.tender_opportunity_id, event.workspace_id, envelope, Stage.SUBMITTED)


async def _follow(
    work: Work, tender_id: UUID | None, workspace_id: UUID, envelope: Envelope, stage: Stage
) -> None:
    await board.follow_bid(work, tender_id, workspace_id, envelope.sequence or 0, stage)
