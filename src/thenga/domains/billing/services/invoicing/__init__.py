"""Invoicing: drafts, lines, numbers, credit notes and revenue recognition."""

from thenga.domains.billing.services.invoicing.billed_periods import (
    BilledLine,
    record_billed_period,
    running_line,
    shorten_billed_period,
)
from thenga.domains.billing.services.invoicing.credit_notes import (
    CreditExceeds,
    credit_note_vat,
    credit_notes_of,
    draft_credit_note,
    is_creditable,
    issue_credit_note,
    issued_credit_note,
    list_credit_notes,
    release_credit_note,
)
from thenga.domains.billing.services.invoicing.due_dates import (
    is_revenue_date,
    next_invoice_check,
    overdue_at,
)
from thenga.domains.billing.services.invoicing.invoices import (
    DraftLine,
    LineKind,
    discard_draft,
    draft_invoice,
    invoice_subscription,
    is_overdue,
    release_invoice,
)
from thenga.domains.billing.services.invoicing.issuing import (
    SellerNotSet,
    blocked_sellers,
    check_seller,
    is_blocked,
    issue_blocker,
    issue_documents,
    issue_next,
    render_pdf,
    send_invoice,
)
from thenga.domains.billing.services.invoicing.lines import (
    credit_note_lines,
    credit_note_lines_by_id,
    invoice_lines,
    invoice_lines_by_id,
    plan_line_text,
)
from thenga.domains.billing.services.invoicing.queries import (
    InvoiceFilters,
    issued_invoice,
    list_invoices,
)
from thenga.domains.billing.services.invoicing.recurring import (
    recurring_lines,
    recurring_lines_for,
    start_draft_on,
)
from thenga.domains.billing.services.invoicing.revenue_recognition import recognize_revenue
from thenga.domains.billing.services.invoicing.unused_time import (
    UnusedTime,
    check_period_running,
    current_period,
    full_period_days,
    unused_time_of,
)

__all__ = [
    "BilledLine",
    "CreditExceeds",
    "DraftLine",
    "InvoiceFilters",
    "LineKind",
    "SellerNotSet",
    "UnusedTime",
    "blocked_sellers",
    "check_period_running",
    "check_seller",
    "credit_note_lines",
    "credit_note_lines_by_id",
    "credit_note_vat",
    "credit_notes_of",
    "current_period",
    "discard_draft",
    "draft_credit_note",
    "draft_invoice",
    "full_period_days",
    "invoice_lines",
    "invoice_lines_by_id",
    "invoice_subscription",
    "is_blocked",
    "is_creditable",
    "is_overdue",
    "is_revenue_date",
    "issue_blocker",
    "issue_credit_note",
    "issue_documents",
    "issue_next",
    "issued_credit_note",
    "issued_invoice",
    "list_credit_notes",
    "list_invoices",
    "next_invoice_check",
    "overdue_at",
    "plan_line_text",
    "recognize_revenue",
    "record_billed_period",
    "recurring_lines",
    "recurring_lines_for",
    "release_credit_note",
    "release_invoice",
    "render_pdf",
    "running_line",
    "send_invoice",
    "shorten_billed_period",
    "start_draft_on",
    "unused_time_of",
]
