"""What Billing tells: how many watchlists and sources a plan has (OPP-41)."""

from thenga.domains.billing.public import EntitlementChanged
from thenga.domains.opportunity.reactions.declared import reactions
from thenga.domains.opportunity.services import board, sources
from thenga.kernel.db.work import Work


@reactions.on(EntitlementChanged)
async def apply_plan_limits(work: Work, event: EntitlementChanged) -> None:
    """A smaller plan pauses the newest watchlists and sources and deletes none."""
    for change in event.changes:
        after = change.after
        limit = 0 if after is None or after.state == "missing" else after.limit
        if limit is None:
            continue
        if change.feature == board.WATCHLISTS:
            await board.pause_over_limit(work, limit)
        elif change.feature == sources.FEATURE:
            await sources.pause_over(work, limit)
