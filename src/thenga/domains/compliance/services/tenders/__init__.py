"""Tenders that a company tracks, with their dates and terms as Opportunity told them (CMP-30)."""

from thenga.domains.compliance.services.tenders.everywhere import (
    end_everywhere,
    end_tracked,
    enqueue_ends,
    enqueue_refreshes,
    refresh_everywhere,
    refresh_tracked,
)
from thenga.domains.compliance.services.tenders.facts import TenderFacts, TermFacts
from thenga.domains.compliance.services.tenders.tracked import (
    AWARDED,
    BIDDING,
    MATCHED,
    ask_again,
    delete_ended,
    end,
    facts_of,
    find_tracked,
    load_terms,
    open_tenders,
    refresh,
    track,
)

__all__ = [
    "AWARDED",
    "BIDDING",
    "MATCHED",
    "TenderFacts",
    "TermFacts",
    "ask_again",
    "delete_ended",
    "end",
    "end_everywhere",
    "end_tracked",
    "enqueue_ends",
    "enqueue_refreshes",
    "facts_of",
    "find_tracked",
    "load_terms",
    "open_tenders",
    "refresh",
    "refresh_everywhere",
    "refresh_tracked",
    "track",
]
