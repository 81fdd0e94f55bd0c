"""Events about invoices and credit notes."""

from datetime import date
from uuid import UUID

from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money


class InvoiceIssued(Event, type="billing.InvoiceIssued.v1", subject="invoice_id"):
    """An invoice was issued and has its number. `amount_due` is what credit has not paid."""

    organization_id: UUID
    invoice_id: UUID
    number: str
    gross: Money
    amount_due: Money
    due_date: date


class CreditNoteIssued(Event, type="billing.CreditNoteIssued.v1", subject="credit_note_id"):
    """A credit note was issued for part or all of an invoice."""

    organization_id: UUID
    credit_note_id: UUID
    number: str
    invoice_id: UUID
    gross: Money


EVENTS = (InvoiceIssued, CreditNoteIssued)
