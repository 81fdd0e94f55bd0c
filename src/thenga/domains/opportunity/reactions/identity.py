"""What Identity tells: who has left an organization (OPP-41)."""

from thenga.domains.identity.public import MembershipChanged
from thenga.domains.opportunity.reactions.declared import reactions
from thenga.domains.opportunity.services import board
from thenga.kernel.db.work import Work


@reactions.on(MembershipChanged)
async def share_watchlists(work: Work, event: MembershipChanged) -> None:
    """The watchlists of somebody who was removed belong to all who may read them."""
    if event.status == "removed":
        await board.share_of_leaver(work, event.user_id)
