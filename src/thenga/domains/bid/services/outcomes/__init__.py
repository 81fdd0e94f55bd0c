"""Outcomes: what became of a bid, and what Contract is told."""

from thenga.domains.bid.services.outcomes.awards import describe_award
from thenga.domains.bid.services.outcomes.hints import (
    hint_everywhere,
    hint_workspace,
    spread_hint,
    store_hint,
)
from thenga.domains.bid.services.outcomes.recording import (
    find_outcome,
    get_outcome,
    record,
    value_of,
)
from thenga.domains.bid.services.outcomes.results import (
    REASON_CODES,
    BidAwardIncomplete,
    BidReasonsRequired,
    contradiction,
)
from thenga.domains.bid.services.outcomes.withdrawing import withdraw

__all__ = [
    "REASON_CODES",
    "BidAwardIncomplete",
    "BidReasonsRequired",
    "contradiction",
    "describe_award",
    "find_outcome",
    "get_outcome",
    "hint_everywhere",
    "hint_workspace",
    "record",
    "spread_hint",
    "store_hint",
    "value_of",
    "withdraw",
]
