"""Usage: recording, reservations, limits and what usage costs."""

from thenga.domains.billing.services.usage.charges import (
    is_usage_owed,
    mark_billed,
    unbilled_lines,
    usage_lines,
)
from thenga.domains.billing.services.usage.recording import (
    MAX_ENTRIES,
    UsageEntry,
    list_records,
    record_gauge,
    record_usage,
)
from thenga.domains.billing.services.usage.reservations import (
    expire_reservation,
    reserve_usage,
    settle_reservation,
)
from thenga.domains.billing.services.usage.retention import (
    compact,
    compact_usage,
    delete_old_days,
    due_for_compaction,
)
from thenga.domains.billing.services.usage.summaries import (
    MeterUsage,
    UsageState,
    UsageSummary,
    summarize,
)

__all__ = [
    "MAX_ENTRIES",
    "MeterUsage",
    "UsageEntry",
    "UsageState",
    "UsageSummary",
    "compact",
    "compact_usage",
    "delete_old_days",
    "due_for_compaction",
    "expire_reservation",
    "is_usage_owed",
    "list_records",
    "mark_billed",
    "record_gauge",
    "record_usage",
    "reserve_usage",
    "settle_reservation",
    "summarize",
    "unbilled_lines",
    "usage_lines",
]
