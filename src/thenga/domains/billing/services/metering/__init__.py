"""Metering: usage totals, usage months and the thresholds they cross."""

from thenga.domains.billing.services.metering.months import (
    UsageCalendar,
    month_days,
    overage_cost_of,
    overage_terms_of,
    record_month,
    usage_calendar,
    usage_month_on,
)
from thenga.domains.billing.services.metering.threshold_events import (
    crossed_thresholds,
    publish_crossed,
)
from thenga.domains.billing.services.metering.totals import (
    MOST,
    Moved,
    Used,
    add_usage,
    ensure_total,
    set_gauge,
    totals_of_month,
    usage_now,
    usage_of_total,
)

__all__ = [
    "MOST",
    "Moved",
    "UsageCalendar",
    "Used",
    "add_usage",
    "crossed_thresholds",
    "ensure_total",
    "month_days",
    "overage_cost_of",
    "overage_terms_of",
    "publish_crossed",
    "record_month",
    "set_gauge",
    "totals_of_month",
    "usage_calendar",
    "usage_month_on",
    "usage_now",
    "usage_of_total",
]
