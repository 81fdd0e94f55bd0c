"""What Compliance does when Bid publishes an event."""

from thenga.domains.bid import public as bid
from thenga.domains.compliance.reactions.declared import reactions
from thenga.domains.compliance.services import tenders
from thenga.kernel.db.work import Work


@reactions.on(bid.BidWorkspaceOpened)
async def track_bid(work: Work, event: bid.BidWorkspaceOpened) -> None:
    """A tender that the company bids on is tracked."""
    if event.tender_opportunity_id is not None:
        await tenders.track(
            work,
            event.tender_opportunity_id,
            interest=tenders.BIDDING,
            closing_at=event.closing_at,
        )
