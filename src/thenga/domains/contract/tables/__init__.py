"""Rows of Contract."""

from thenga.domains.contract.tables.invoicing import (
    CreditNote,
    DocumentPdf,
    Edition,
    Invoice,
    InvoiceKind,
    InvoiceLine,
    InvoiceStatus,
    Payment,
    PaymentState,
    ReturnReason,
)
from thenga.domains.contract.tables.ledger import (
    Account,
    EntryKind,
    JournalEntry,
    JournalLine,
    WorkspaceMoney,
)
from thenga.domains.contract.tables.variations import (
    Variation,
    VariationReason,
    VariationStatus,
)

__all__ = [
    "Account",
    "CreditNote",
    "DocumentPdf",
    "Edition",
    "EntryKind",
    "Invoice",
    "InvoiceKind",
    "InvoiceLine",
    "InvoiceStatus",
    "JournalEntry",
    "JournalLine",
    "Payment",
    "PaymentState",
    "ReturnReason",
    "Variation",
    "VariationReason",
    "VariationStatus",
    "WorkspaceMoney",
]
