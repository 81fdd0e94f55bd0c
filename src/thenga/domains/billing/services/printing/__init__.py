"""Printing: invoices and credit notes as PDF/A, generated once and stored."""

from thenga.domains.billing.services.printing.pdf_archive import (
    find_pdf,
    repair_stuck,
    sheets_to_print,
    store_pdfs,
    typeset,
)

__all__ = [
    "find_pdf",
    "repair_stuck",
    "sheets_to_print",
    "store_pdfs",
    "typeset",
]
