"""Tenders: captured, published, found and moved by time."""

from thenga.domains.opportunity.services.notices.capturing import (
    OpportunityClosingInPast,
    OpportunityIncomplete,
    OpportunityNotKeeper,
    create,
    keep,
    possible_duplicates,
    publish,
)
from thenga.domains.opportunity.services.notices.clock import is_live, status_at
from thenga.domains.opportunity.services.notices.deadlines import (
    WishedDeadline,
    deadlines_of,
    set_deadline,
    state_of,
)
from thenga.domains.opportunity.services.notices.documenting import value_of
from thenga.domains.opportunity.services.notices.filters import (
    Filters,
    conditions,
    query_of,
    stored_filters,
)
from thenga.domains.opportunity.services.notices.indexing import index
from thenga.domains.opportunity.services.notices.searching import Found, Hit, search
from thenga.domains.opportunity.services.notices.telling import label_of, tell

__all__ = [
    "Filters",
    "Found",
    "Hit",
    "OpportunityClosingInPast",
    "OpportunityIncomplete",
    "OpportunityNotKeeper",
    "WishedDeadline",
    "conditions",
    "create",
    "deadlines_of",
    "index",
    "is_live",
    "keep",
    "label_of",
    "possible_duplicates",
    "publish",
    "query_of",
    "search",
    "set_deadline",
    "state_of",
    "status_at",
    "stored_filters",
    "tell",
    "value_of",
]
