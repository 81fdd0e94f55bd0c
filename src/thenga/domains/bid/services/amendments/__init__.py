"""Amendments: what a change of the tender touches, and reconfirmation."""

from thenga.domains.bid.services.amendments.reconfirming import (
    BidEffectsOpen,
    BidNewerAmendment,
    Reconfirmation,
    reconfirm,
)
from thenga.domains.bid.services.amendments.ripples import (
    apply,
    apply_ripple,
    refresh_everywhere,
    refresh_tender,
    refresh_workspace,
    ripple_everywhere,
    ripples_of,
    spread,
    spread_refresh,
)

__all__ = [
    "BidEffectsOpen",
    "BidNewerAmendment",
    "Reconfirmation",
    "apply",
    "apply_ripple",
    "reconfirm",
    "refresh_everywhere",
    "refresh_tender",
    "refresh_workspace",
    "ripple_everywhere",
    "ripples_of",
    "spread",
    "spread_refresh",
]
