"""Tenders: captured, published, found and moved by time."""

from thenga.domains.opportunity.services.notices.capturing import (
    OpportunityClosingInPast,
    OpportunityIncomplete,
    OpportunityNotKeeper,
    bring_out,
    check_closing,
    check_platform_fields,
    columns_of,
    create,
    keep,
    new_tender,
    possible_duplicates,
    publish,
)
from thenga.domains.opportunity.services.notices.clock import (
    is_live,
    next_check,
    set_times,
    status_at,
)
from thenga.domains.opportunity.services.notices.deadlines import (
    WishedDeadline,
    deadlines_of,
    rederive,
    refresh_deadlines,
    set_deadline,
    state_of,
)
from thenga.domains.opportunity.services.notices.documenting import (
    add_version,
    document_of,
    value_of,
    version_of,
)
from thenga.domains.opportunity.services.notices.filters import (
    Filters,
    conditions,
    query_of,
    stored_filters,
)
from thenga.domains.opportunity.services.notices.indexing import (
    index,
)
from thenga.domains.opportunity.services.notices.searching import (
    Found,
    Hit,
    search,
)
from thenga.domains.opportunity.services.notices.telling import (
    label_of,
    tell,
    tell_amended,
    tell_awarded,
    tell_closed,
    tell_opened,
)

__all__ = [
    "Filters",
    "Found",
    "Hit",
    "OpportunityClosingInPast",
    "OpportunityIncomplete",
    "OpportunityNotKeeper",
    "WishedDeadline",
    "add_version",
    "bring_out",
    "check_closing",
    "check_platform_fields",
    "columns_of",
    "conditions",
    "create",
    "deadlines_of",
    "document_of",
    "index",
    "is_live",
    "keep",
    "label_of",
    "new_tender",
    "next_check",
    "possible_duplicates",
    "publish",
    "query_of",
    "rederive",
    "refresh_deadlines",
    "search",
    "set_deadline",
    "set_times",
    "state_of",
    "status_at",
    "stored_filters",
    "tell",
    "tell_amended",
    "tell_awarded",
    "tell_closed",
    "tell_opened",
    "value_of",
    "version_of",
]
