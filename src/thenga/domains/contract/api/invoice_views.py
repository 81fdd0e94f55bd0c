"""What callers see of invoices, credit notes and payments."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from thenga.domains.contract.api.proofs import ContractReferenceView
from thenga.domains.contract.lifecycles import InvoiceLifecycle, PaymentLifecycle
from thenga.domains.contract.services import invoicing
from thenga.domains.contract.services.invoicing import Bucket
from thenga.domains.contract.tables import (
    CreditNote,
    Invoice,
    InvoiceKind,
    InvoiceLine,
    InvoiceStatus,
    Payment,
    PaymentState,
    ReturnReason,
)
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.http.bodies import Stored, View
from thenga.kernel.http.document.operations import PREFIX
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_FIGURES = (
    *("work", "retained", "recovered", "consideration", "net", "vat", "payable"),
    *("claimed", "paid", "credited", "written_off", "outstanding"),
)


class ContractInvoiceLineView(View):
    """One line of an invoice."""

    milestone_id: Annotated[UUID | None, Field(description="Milestone claimed.")]
    description: Annotated[str, Field(description="Description of the supply.")]
    quantity: Annotated[Decimal, Field(description="Quantity or volume.")]
    unit: Annotated[str | None, Field(description="Unit of the quantity.")]
    amount: Annotated[Money, Field(description="Amount of the line, VAT included.")]


class ContractCreditNoteView(View):
    """A credit note on the invoice."""

    id: Annotated[UUID, Field(description="ID of the credit note.")]
    number: Annotated[str, Field(description="Credit note number.")]
    amount: Annotated[Money, Field(description="Amount credited, VAT included.")]
    net: Annotated[Money, Field(description="Amount credited, VAT excluded.")]
    vat: Annotated[Money, Field(description="VAT credited.")]
    reason_code: Annotated[str, Field(description="Reason code.")]
    explanation: Annotated[str, Field(description="Reason printed on it.")]
    issued_on: Annotated[date, Field(description="Date of issue.")]


class InvoiceDisputeView(View):
    """The part of the invoice that the buyer disputes."""

    amount: Annotated[Money, Field(description="Disputed amount. It does not count as overdue.")]
    reason_code: Annotated[str, Field(description="Reason code of the dispute.")]
    since: Annotated[date, Field(description="First day of the dispute.")]


class ClockRunView(View):
    """One run of the payment clock."""

    received_on: Annotated[date, Field(description="Date of receipt by the buyer.")]
    due_on: Annotated[date, Field(description="Last day to pay, counted from this receipt.")]
    returned_on: Annotated[date | None, Field(description="Date of the return that ended the run.")]
    reason_code: Annotated[ReturnReason | None, Field(description="Reason for the return.")]


class SellerReferenceView(View):
    """A version of one of your own facts or addresses."""

    domain: Annotated[str, Field(description="Owning domain.")]
    type: Annotated[str, Field(description="Type of resource.")]
    id: Annotated[str, Field(description="ID of the fact or record.")]
    version: Annotated[int, Field(description="Version that was printed.")]


class ContractPdfView(View):
    """The original PDF of the invoice."""

    sha256: Annotated[str, Field(description="SHA-256 of the file, in hex.")]
    bytes: Annotated[int, Field(description="Size in bytes.")]
    ready_at: Annotated[datetime, Field(description="When it was rendered.")]
    replaced: Annotated[
        list[str], Field(description="Characters our fonts cannot draw, for example `U+1F600`.")
    ]


class ContractPaymentView(Stored):
    """A payment by the buyer on one invoice."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="ID of the contract.")]
    invoice_id: Annotated[UUID, Field(description="ID of the invoice.")]
    state: Annotated[
        PaymentState, Field(description="State. Only confirmed payments settle the invoice.")
    ]
    amount: Annotated[Money, Field(description="Amount received.")]
    received_on: Annotated[date, Field(description="Date on which the money arrived.")]
    bank_reference: Annotated[str | None, Field(description="Reference on the bank statement.")]
    days_from_receipt: Annotated[
        int | None, Field(description="Days from receipt of the invoice to this payment.")
    ]
    reason_code: Annotated[str | None, Field(description="Reason for the withdrawal or reversal.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        """Where it is read again."""
        return f"{PREFIX}/contracts/payments/{self.id}"

    @classmethod
    def of(cls, payment: Payment, now: datetime) -> "ContractPaymentView":
        more: dict[str, Any] = {
            "amount": Money(payment.amount_minor, payment.currency),
            "allowed_moves": PaymentLifecycle.allowed(payment, now),
        }
        return cls.model_validate(payment.__dict__ | more)


class ContractInvoiceView(Stored):
    """An invoice to the buyer. All amounts include VAT unless the name says otherwise."""

    organization_id: UUID
    workspace_id: Annotated[UUID, Field(description="ID of the contract.")]
    kind: Annotated[InvoiceKind, Field(description="Kind of invoice.")]
    status: InvoiceStatus
    status_reason: Annotated[str | None, Field(description="Reason for the last move.")]
    status_changed_at: Annotated[datetime | None, Field(description="Time of the last move.")]
    status_changed_by: Annotated[UUID | None, Field(description="Person who made the last move.")]
    number: Annotated[str | None, Field(description="Invoice number. Null for drafts.")]
    external_number: Annotated[
        str | None, Field(description="Number of an invoice issued elsewhere.")
    ]
    document_ref: Annotated[
        ContractReferenceView | None,
        Field(description="Document of an invoice issued elsewhere."),
    ]
    replaces: Annotated[UUID | None, Field(description="Invoice that this one replaces.")]
    supply_date: Annotated[date | None, Field(description="Date of supply.")]
    note: Annotated[str | None, Field(description="Text printed on the invoice.")]
    rate_percent: Annotated[
        Decimal | None, Field(description="VAT rate in per cent. Null for a non-vendor.")
    ]
    work: Annotated[Money, Field(description="Work claimed.")]
    retained: Annotated[Money, Field(description="Retention kept by the buyer.")]
    recovered: Annotated[Money, Field(description="Part that repays the advance.")]
    consideration: Annotated[Money, Field(description="Amount subject to VAT, VAT included.")]
    net: Annotated[Money, Field(description="Consideration without VAT.")]
    vat: Annotated[Money, Field(description="VAT in the consideration.")]
    payable: Annotated[Money, Field(description="Amount that the buyer owes on this invoice.")]
    claimed: Annotated[Money, Field(description="Payments recorded but not yet confirmed.")]
    paid: Annotated[Money, Field(description="Confirmed payments.")]
    credited: Annotated[Money, Field(description="Total of the credit notes.")]
    written_off: Annotated[Money, Field(description="Amount written off.")]
    outstanding: Annotated[Money, Field(description="Amount still owed.")]
    payment_status: Annotated[
        Literal["unpaid", "partly_paid", "paid"], Field(description="Payment status.")
    ]
    overdue: Annotated[bool, Field(description="Whether an undisputed part is past its due date.")]
    bucket: Annotated[Bucket, Field(description="Ageing bucket.")]
    dispute: Annotated[InvoiceDisputeView | None, Field(description="Open dispute, if any.")]
    submitted_on: Annotated[date | None, Field(description="Date of issue.")]
    received_on: Annotated[
        date | None, Field(description="Date of receipt by the buyer. Null after a return.")
    ]
    due_on: Annotated[date | None, Field(description="Last day to pay.")]
    expected_on: Annotated[date | None, Field(description="Expected payment date.")]
    clock_history: Annotated[
        list[ClockRunView], Field(description="Every run of the payment clock.")
    ]
    strength: Annotated[
        str | None, Field(description="Strength of proof of the buyer's approval, if any.")
    ]
    seller_refs: Annotated[
        list[SellerReferenceView], Field(description="Versions of your own facts shown on it.")
    ]
    warnings: Annotated[
        list[str],
        Field(description="`bank_details_left_out`: the PDF shows no bank account."),
    ]
    pdf: Annotated[ContractPdfView | None, Field(description="The PDF. Null until it is rendered.")]
    allowed_moves: list[AllowedMove]

    @property
    def own_path(self) -> str:
        """Where it is read again."""
        return f"{PREFIX}/contracts/invoices/{self.id}"

    @classmethod
    def of(cls, invoice: Invoice, now: datetime) -> "ContractInvoiceView":
        return cls.model_validate(shown(invoice, now))


class ContractInvoiceDetail(ContractInvoiceView):
    """An invoice with its lines, credit notes and payments."""

    lines: Annotated[list[ContractInvoiceLineView], Field(description="Lines, in order.")]
    credit_notes: Annotated[
        list[ContractCreditNoteView], Field(description="Credit notes, oldest first.")
    ]
    payments: Annotated[list[ContractPaymentView], Field(description="Payments, oldest first.")]
    replaced_by: Annotated[UUID | None, Field(description="Invoice that replaces this one.")] = None

    @classmethod
    def of_parts(
        cls,
        invoice: Invoice,
        lines: Sequence[InvoiceLine],
        notes: Sequence[CreditNote],
        payments: Sequence[Payment],
        now: datetime,
    ) -> "ContractInvoiceDetail":
        currency = invoice.currency
        more: dict[str, Any] = {
            "lines": [
                line.__dict__ | {"amount": Money(line.amount_minor, currency)} for line in lines
            ],
            "credit_notes": [
                note.__dict__
                | {one: Money(getattr(note, f"{one}_minor"), currency) for one in _CREDITED}
                for note in notes
            ],
            "payments": [ContractPaymentView.of(payment, now) for payment in payments],
        }
        return cls.model_validate(shown(invoice, now) | more)


_CREDITED = ("amount", "net", "vat")


def shown(invoice: Invoice, now: datetime) -> dict[str, Any]:
    """Values of an invoice as its view names them, with what follows from them today."""
    bucket = invoicing.bucket_of(invoice, local_day(now))
    figures = {
        name: Money(getattr(invoice, f"{name}_minor"), invoice.currency) for name in _FIGURES
    }
    return (
        invoice.__dict__
        | figures
        | {
            "replaces": invoice.replaces_id,
            "payment_status": invoicing.payment_status(invoice),
            "overdue": bucket is not Bucket.NOT_DUE,
            "bucket": bucket,
            "dispute": _dispute(invoice),
            "expected_on": invoice.due_on,
            "allowed_moves": InvoiceLifecycle.allowed(invoice, now),
        }
    )


def _dispute(invoice: Invoice) -> dict[str, Any] | None:
    if not invoice.disputed_minor:
        return None
    amount = Money(invoice.disputed_minor, invoice.currency)
    code, since = invoice.dispute_code, invoice.dispute_since
    return {"amount": amount, "reason_code": code, "since": since}
