"""Watchlists, saved tenders and the telling of deadlines (OPP-29, OPP-35, OPP-41, OPP-42)."""

from thenga.domains.opportunity.services.board.alerts import alert_company
from thenga.domains.opportunity.services.board.bid_led import follow_bid, open_workspace
from thenga.domains.opportunity.services.board.filters import WatchlistEmpty
from thenga.domains.opportunity.services.board.percolation import percolate
from thenga.domains.opportunity.services.board.ripple import (
    companies_that_saved,
    mark_amended,
    mark_ended,
    ripple_effects,
    spread_to_boards,
    update_board,
)
from thenga.domains.opportunity.services.board.saved import (
    SavedFilters,
    StageLedByBid,
    StageTotal,
    board_of,
    change_saved,
    estimated,
    get_saved,
    list_saved,
    run_due_step,
    save,
    tenders_of,
)
from thenga.domains.opportunity.services.board.watchlists import (
    WATCHLISTS,
    Hits,
    WatchlistFields,
    change_watchlist,
    create_watchlist,
    get_watchlist,
    hits_of,
    list_watchlists,
    meter_watchlist,
    pause_over_limit,
    share_of_leaver,
    usage_of,
)

__all__ = [
    "WATCHLISTS",
    "Hits",
    "SavedFilters",
    "StageLedByBid",
    "StageTotal",
    "WatchlistEmpty",
    "WatchlistFields",
    "alert_company",
    "board_of",
    "change_saved",
    "change_watchlist",
    "companies_that_saved",
    "create_watchlist",
    "estimated",
    "follow_bid",
    "get_saved",
    "get_watchlist",
    "hits_of",
    "list_saved",
    "list_watchlists",
    "mark_amended",
    "mark_ended",
    "meter_watchlist",
    "open_workspace",
    "pause_over_limit",
    "percolate",
    "ripple_effects",
    "run_due_step",
    "save",
    "share_of_leaver",
    "spread_to_boards",
    "tenders_of",
    "update_board",
    "usage_of",
]
