"""What Billing tells of its documents."""

from datetime import date
from uuid import UUID

from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money


class InvoiceIssued(Event, type="billing.InvoiceIssued.v1", subject="invoice_id"):
    """An invoice has its number; `amount_due` is what credit has not paid already."""

    organization_id: UUID
    invoice_id: UUID
    number: str
    gross: Money
    amount_due: Money
    due_date: date


class CreditNoteIssued(Event, type="billing.CreditNoteIssued.v1", subject="credit_note_id"):
    """A part of an invoice was given back."""

    organization_id: UUID
    credit_note_id: UUID
    number: str
    invoice_id: UUID
    gross: Money


EVENTS = (InvoiceIssued, CreditNoteIssued)
