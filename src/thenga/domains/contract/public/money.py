"""What Contract tells of variations, invoices, payments and retention."""

from datetime import date
from decimal import Decimal
from uuid import UUID

from thenga.kernel.declare.event import Event
from thenga.kernel.values.money import Money


class VariationExecuted(Event, type="contract.VariationExecuted.v1", subject="variation_id"):
    """Both sides signed a variation, and the contract changed by it."""

    organization_id: UUID
    workspace_id: UUID
    variation_id: UUID
    number: str
    label: str
    value_delta: Money
    days_delta: int
    current_value: Money
    current_ends_on: date
    cumulative_percent: Decimal
    limit_state: str
    plan_number: int | None
    strength: str


class InvoiceRecorded(Event, type="contract.InvoiceRecorded.v1", subject="invoice_id"):
    """An invoice was submitted and has its number."""

    organization_id: UUID
    workspace_id: UUID
    invoice_id: UUID
    number: str
    kind: str
    payable: Money
    submitted_on: date


class InvoiceChanged(Event, type="contract.InvoiceChanged.v1", subject="invoice_id"):
    """An invoice was received, returned, approved, disputed, credited or settled.

    `change: received` with `due_on` is what payment reminders count from.
    """

    organization_id: UUID
    workspace_id: UUID
    invoice_id: UUID
    number: str
    change: str
    status: str
    received_on: date | None
    due_on: date | None
    expected_on: date | None
    outstanding: Money
    disputed: Money | None
    strength: str | None


class InvoiceOverdue(Event, type="contract.InvoiceOverdue.v1", subject="invoice_id"):
    """An invoice is overdue; told once for each bucket of its age."""

    organization_id: UUID
    workspace_id: UUID
    invoice_id: UUID
    number: str
    due_on: date
    bucket: str
    outstanding: Money
    interest_per_day: Money | None
    counterparty_kind: str


class PaymentRecorded(Event, type="contract.PaymentRecorded.v1", subject="payment_id"):
    """A payment was recorded or confirmed."""

    organization_id: UUID
    workspace_id: UUID
    payment_id: UUID
    invoice_id: UUID
    amount: Money
    state: str
    received_on: date
    outstanding: Money
    settled: bool
    days_from_receipt: int | None


class PaymentReversed(Event, type="contract.PaymentReversed.v1", subject="payment_id"):
    """A confirmed payment does not count any more; its invoice is open again."""

    organization_id: UUID
    workspace_id: UUID
    payment_id: UUID
    invoice_id: UUID
    amount: Money
    reason_code: str
    outstanding: Money


class RetentionReleasable(Event, type="contract.RetentionReleasable.v1", subject="workspace_id"):
    """A part of the retention can be claimed from a day on."""

    organization_id: UUID
    workspace_id: UUID
    part: str
    amount: Money
    releasable_on: date


EVENTS = (
    VariationExecuted,
    InvoiceRecorded,
    InvoiceChanged,
    InvoiceOverdue,
    PaymentRecorded,
    PaymentReversed,
    RetentionReleasable,
)
