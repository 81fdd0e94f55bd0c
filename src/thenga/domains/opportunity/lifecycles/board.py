"""Which moves watchlists and saved tenders have."""

from thenga.domains.opportunity.tables import Stage, WatchlistStatus
from thenga.kernel.declare.lifecycle import By, Lifecycle, Move

W, S = WatchlistStatus, Stage


class WatchlistLifecycle(Lifecycle, initial=W.ACTIVE):
    """A watchlist."""

    pause = Move(W.ACTIVE, to=W.PAUSED)
    resume = Move(W.PAUSED, to=W.ACTIVE)
    archive = Move(W.ACTIVE, W.PAUSED, to=W.ARCHIVED)


class SavedOpportunityLifecycle(Lifecycle, initial=(S.SAVED, S.DECLINED), axis="stage"):
    """A saved tender on the board; Bid leads it once there is a workspace (OPP-42)."""

    review = Move(S.SAVED, to=S.REVIEWING)
    pursue = Move(S.SAVED, S.REVIEWING, to=S.PURSUING)
    submit = Move(S.SAVED, S.REVIEWING, S.PURSUING, to=S.SUBMITTED)
    win = Move(S.SUBMITTED, S.APPEALING, to=S.WON)
    lose = Move(S.SUBMITTED, S.APPEALING, to=S.LOST)
    appeal = Move(S.LOST, to=S.APPEALING)
    decline = Move(S.SAVED, S.REVIEWING, S.PURSUING, to=S.DECLINED)
    reopen = Move(S.DECLINED, to=S.SAVED)
    drop = Move(S.SAVED, S.REVIEWING, S.PURSUING, to=S.CANCELLED, by=By.SYSTEM)
    set_aside = Move(S.WON, to=S.SUBMITTED, by=By.SYSTEM)
