"""Invoices, credit notes and payments of a contract."""

from thenga.domains.contract.services.invoicing.drafts import (
    LineGiven,
    PlanMissing,
    lines_of,
)
from thenga.domains.contract.services.invoicing.invoices import (
    InvoiceFilters,
    bucket_of,
    change_invoice,
    create_invoice,
    credit_notes_of,
    is_owed,
    list_invoices,
    list_payments,
    payment_status,
    payments_of,
    replacement_of,
    tell_overdue,
)
from thenga.domains.contract.services.invoicing.moves import InvoiceMove
from thenga.domains.contract.services.invoicing.payment_clock import Bucket, ClockRun
from thenga.domains.contract.services.invoicing.payments import (
    PaymentExceeds,
    PaymentGiven,
    confirm_payment,
    record_payment,
    reverse_payment,
    withdraw_payment,
)
from thenga.domains.contract.services.invoicing.printing import (
    find_pdf,
    order_print,
    reveal_bank,
    store_pdfs,
    typeset,
)
from thenga.domains.contract.services.invoicing.submission import (
    InvoiceTaxDataMissing,
    OverMilestone,
    OverValue,
    render_document,
    seller_of,
)

__all__ = [
    "Bucket",
    "ClockRun",
    "InvoiceFilters",
    "InvoiceMove",
    "InvoiceTaxDataMissing",
    "LineGiven",
    "OverMilestone",
    "OverValue",
    "PaymentExceeds",
    "PaymentGiven",
    "PlanMissing",
    "bucket_of",
    "change_invoice",
    "confirm_payment",
    "create_invoice",
    "credit_notes_of",
    "find_pdf",
    "is_owed",
    "lines_of",
    "list_invoices",
    "list_payments",
    "order_print",
    "payment_status",
    "payments_of",
    "record_payment",
    "render_document",
    "replacement_of",
    "reveal_bank",
    "reverse_payment",
    "seller_of",
    "store_pdfs",
    "tell_overdue",
    "typeset",
    "withdraw_payment",
]
