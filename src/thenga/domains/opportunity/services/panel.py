"""What operators see of an organization's tenders."""

from thenga.domains.opportunity.tables import (
    Match,
    Qualification,
    QualificationStatus,
    SavedOpportunity,
    Stage,
    Watchlist,
    WatchlistStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.standing import panels
from thenga.kernel.standing.panels import Panel, PanelState

_PURSUED = (Stage.SAVED, Stage.REVIEWING, Stage.PURSUING)


async def summarize(read: Reader) -> Panel:
    """How many matches, saved tenders, watchlists and open qualifications there are."""
    counts = await panels.count(
        read,
        matches=(Match, Match.id.is_not(None)),
        saved_open=(SavedOpportunity, among(SavedOpportunity.stage, _PURSUED)),
        watchlists_active=(Watchlist, Watchlist.status == WatchlistStatus.ACTIVE),
        qualifications_open=(Qualification, Qualification.status == QualificationStatus.DRAFT),
    )
    return Panel(figures=list(counts), state=PanelState.OK)
