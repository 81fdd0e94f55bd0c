"""Pricing: the workbook of a bid, its sums, findings, points and cash picture (BID-26 to 36)."""

from thenga.domains.bid.services.pricing.arithmetic import VatStatus
from thenga.domains.bid.services.pricing.problems import GoalsExceedAllocation, RatePrecision
from thenga.domains.bid.services.pricing.reading import (
    Shown,
    cash_plan,
    get_workbook,
    picture_of,
)
from thenga.domains.bid.services.pricing.totals import (
    CSV_HEADER,
    OURS,
    CurrentPrice,
    Picture,
    csv_rows,
    current_price,
    goals_of,
    lines_with_tax,
)
from thenga.domains.bid.services.pricing.workbooks import (
    Changed,
    ask_vat_status,
    change,
    create,
    event_of,
    return_to_draft,
    version_of,
)

__all__ = [
    "CSV_HEADER",
    "OURS",
    "Changed",
    "CurrentPrice",
    "GoalsExceedAllocation",
    "Picture",
    "RatePrecision",
    "Shown",
    "VatStatus",
    "ask_vat_status",
    "cash_plan",
    "change",
    "create",
    "csv_rows",
    "current_price",
    "event_of",
    "get_workbook",
    "goals_of",
    "lines_with_tax",
    "picture_of",
    "return_to_draft",
    "version_of",
]
