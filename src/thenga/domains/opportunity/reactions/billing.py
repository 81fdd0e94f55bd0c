"""What Billing tells: how many watchlists a plan has (OPP-41)."""

from thenga.domains.billing.public import EntitlementChanged
from thenga.domains.opportunity.reactions.declared import reactions
from thenga.domains.opportunity.services import board
from thenga.kernel.db.work import Work


@reactions.on(EntitlementChanged)
async def pause_watchlists(work: Work, event: EntitlementChanged) -> None:
    """A smaller plan pauses the newest watchlists and deletes none."""
    for change in event.changes:
        if change.feature == board.WATCHLISTS:
            after = change.after
            limit = 0 if after is None or after.state == "missing" else after.limit
            if limit is not None:
                await board.pause_over_limit(work, limit)
