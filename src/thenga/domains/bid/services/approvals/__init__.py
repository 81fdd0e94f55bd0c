"""Approvals: four eyes on exactly one version, bound to its hash (BID-37 to 40)."""

from thenga.domains.bid.services.approvals.deciding import (
    Decided,
    SubjectChanged,
    decide,
    drop_approver,
    get_approval,
    live_approval,
)
from thenga.domains.bid.services.approvals.requesting import (
    SINGLE_MEMBER,
    ApproverNotPossible,
    BidFindingsOpen,
    Requested,
    holding,
    is_alone,
    request,
)
from thenga.domains.bid.services.approvals.voiding import PACK, PRICE, expire, void_for

__all__ = [
    "PACK",
    "PRICE",
    "SINGLE_MEMBER",
    "ApproverNotPossible",
    "BidFindingsOpen",
    "Decided",
    "Requested",
    "SubjectChanged",
    "decide",
    "drop_approver",
    "expire",
    "get_approval",
    "holding",
    "is_alone",
    "live_approval",
    "request",
    "void_for",
]
