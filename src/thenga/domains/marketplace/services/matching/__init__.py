"""Matches of a need, or of the gap in a tender, with listings that may meet it."""

from thenga.domains.marketplace.services.matching.matches import (
    MatchTenderUnknown,
    NothingMatchable,
    StaleReason,
    compute_match,
    stale_reasons,
)

__all__ = [
    "MatchTenderUnknown",
    "NothingMatchable",
    "StaleReason",
    "compute_match",
    "stale_reasons",
]
