"""What operators see of a company's marketplace."""

from thenga.domains.marketplace.tables.listings import Listing, ListingStatus
from thenga.kernel.db.reader import Reader
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Panel, PanelState


async def summarize(read: Reader) -> Panel:
    """How many listings the company has, and how many wait for a moderator."""
    mine = Listing.organization_id == read.organization_id
    figures = await panels.count(
        read,
        listings_published=(Listing, mine & (Listing.status == ListingStatus.PUBLISHED)),
        listings_pending=(Listing, mine & Listing.pending_since.is_not(None)),
    )
    return Panel(figures=figures, state=PanelState.OK)
