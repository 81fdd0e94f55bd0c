"""Invoices: what is owed, for which days, and how it was paid."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.billing.api.common_fields import (
    AccountRef,
    AllowedMoves,
    OrganizationRef,
    ProviderName,
)
from thenga.domains.billing.api.invoicing.documents import (
    PRINTED,
    Copy,
    IssuedFrom,
    IssuedTo,
    PdfView,
    RecipientView,
    SellerView,
    TaxLineView,
    amounts,
    parties,
    printed,
)
from thenga.domains.billing.lifecycles import InvoiceLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import dunning, invoicing, payments, printing
from thenga.domains.billing.services.invoicing import (
    InvoiceFilters,
    invoice_lines,
    invoice_lines_by_id,
)
from thenga.domains.billing.tables import (
    Book,
    CollectionStatus,
    CreditNote,
    CreditNoteStatus,
    Edition,
    Invoice,
    InvoiceLine,
    InvoiceStatus,
    LineKind,
    PaymentStatus,
    Purpose,
)
from thenga.kernel.access.gate import HeldAs
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import By
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import text
from thenga.kernel.values.money import Money

router = make_router("Billing / Invoice")

InvoiceId = Annotated[UUID, Path(alias="invoiceId", description="The invoice.")]
_SUMS = ("credit_applied", "amount_paid", "amount_credited", "amount_due")


class UnitPriceView(View):
    """A price per unit, with more decimals when a unit costs less than a cent."""

    amount: Annotated[str, Field(description="Price as a decimal string.")]
    currency: Annotated[str, Field(description="ISO currency code.")]


class InvoiceLineView(View):
    """One line of an invoice."""

    id: Annotated[UUID, Field(description="The invoice line.")]
    kind: Annotated[LineKind, Field(description="What the line charges for.")]
    description: Annotated[str, Field(description="Text printed on the invoice.")]
    quantity: Annotated[int, Field(description="Number of units.")]
    unit_price: Annotated[UnitPriceView, Field(description="Price per unit, VAT included.")]
    gross: Annotated[Money, Field(description="Line total, VAT included. Never negative.")]
    credited: Annotated[Money, Field(description="Amount credited by credit notes.")]
    service_from: Annotated[date | None, Field(description="First day of service.")]
    service_to: Annotated[date | None, Field(description="Day after the last day of service.")]
    subscription_id: Annotated[UUID | None, Field(description="Subscription it charges for.")]
    plan_code: Annotated[str | None, Field(description="Code of the plan it charges for.")]
    plan_version: Annotated[int | None, Field(description="Version of that plan.")]

    @classmethod
    def of(cls, line: InvoiceLine, currency: str) -> "InvoiceLineView":
        price = line.unit_price.quantize(Decimal("0.01"))
        exact = price if price == line.unit_price else line.unit_price.normalize()
        values = line.__dict__ | {
            "unit_price": UnitPriceView(amount=f"{exact:f}", currency=currency),
            "gross": Money(line.gross_minor, currency),
            "credited": Money(line.credited_minor, currency),
        }
        return cls.shown(values)


class InvoiceView(Stored):
    """An invoice. Its contents never change once it has a number."""

    organization_id: OrganizationRef
    account_id: AccountRef
    subscription_id: Annotated[
        UUID | None, Field(description="Subscription it charges for. Null if it charges for none.")
    ]
    purpose: Annotated[Purpose, Field(description="Why it was created.")]
    book: Annotated[
        Book,
        Field(
            description="`live` or `sandbox`. Sandbox documents are specimens with separate "
            "numbers."
        ),
    ]
    status: Annotated[InvoiceStatus, Field(description="Status of the invoice.")]
    collection_status: Annotated[
        CollectionStatus, Field(description="Collection status, independent of `status`.")
    ]
    overdue: Annotated[bool, Field(description="Whether it is open after its due date.")]
    number: Annotated[
        str | None,
        Field(description="Document number, assigned when it is issued. Null on a draft."),
    ]
    title: Annotated[
        str, Field(description="`Tax Invoice`, or `Invoice` if the seller charges no VAT.")
    ]
    seller: Annotated[SellerView | None, Field(description="Seller, as printed. Null on a draft.")]
    recipient: Annotated[
        RecipientView, Field(description="Recipient, as printed. Fixed when the invoice is issued.")
    ]
    order_number: Annotated[
        str | None, Field(description="Customer's purchase order number, as printed.")
    ]
    issue_date: Annotated[date | None, Field(description="Local day of issue. Null on a draft.")]
    supply_date: Annotated[
        date | None,
        Field(description="Local day of supply, which decides the VAT rate. Null on a draft."),
    ]
    due_date: Annotated[
        date | None,
        Field(description="Last local day to pay on time. Null on a draft."),
    ]
    lines: Annotated[list[InvoiceLineView], Field(description="Lines of the invoice.")]
    tax_lines: Annotated[list[TaxLineView], Field(description="Totals by VAT rate.")]
    net: Annotated[Money, Field(description="Total without VAT.")]
    vat: Annotated[Money, Field(description="VAT included in `gross`, computed on the total.")]
    gross: Annotated[Money, Field(description="Total of the lines, VAT included.")]
    credit_applied: Annotated[Money, Field(description="Amount paid from account credit.")]
    amount_paid: Annotated[Money, Field(description="Amount paid by payments.")]
    amount_credited: Annotated[Money, Field(description="Amount credited by credit notes.")]
    amount_due: Annotated[
        Money,
        Field(description="Amount still to pay. On a draft, available credit is already deducted."),
    ]
    pdf: Annotated[PdfView | None, Field(description="The PDF. Null until it is rendered.")]
    allowed_moves: AllowedMoves

    @classmethod
    def of(cls, invoice: Invoice, lines: list[InvoiceLine], read: Reader) -> "InvoiceView":
        asking = By.STAFF if read.held_as is HeldAs.PLATFORM else By.CALLER
        currency = invoice.currency
        sums = {name: Money(getattr(invoice, f"{name}_minor"), currency) for name in _SUMS}
        values = invoice.__dict__ | amounts(invoice) | parties(invoice) | sums
        values |= {
            "overdue": invoicing.is_overdue(invoice, local_day(read.now)),
            "lines": [InvoiceLineView.of(line, currency) for line in lines],
            "allowed_moves": InvoiceLifecycle.allowed(invoice, read.now, by=asking),
        }
        return cls.shown(values)


class CreditedView(View):
    """A credit note of this invoice."""

    id: Annotated[UUID, Field(description="The credit note.")]
    number: Annotated[str | None, Field(description="Document number. Null on a draft.")]
    status: Annotated[CreditNoteStatus, Field(description="Status of the credit note.")]
    gross: Annotated[Money, Field(description="Amount credited, VAT included.")]
    issue_date: Annotated[date | None, Field(description="Local day of issue. Null on a draft.")]

    @classmethod
    def of(cls, note: CreditNote) -> "CreditedView":
        return cls.shown(note.__dict__ | {"gross": Money(note.gross_minor, note.currency)})


class PaidView(View):
    """An attempt to pay this invoice."""

    id: Annotated[UUID, Field(description="The payment.")]
    provider: ProviderName
    status: Annotated[PaymentStatus, Field(description="Status of the payment.")]
    amount: Annotated[Money, Field(description="Amount of the payment.")]
    attempt: Annotated[
        int, Field(description="Number of the recovery attempt. 0 if it is not part of a recovery.")
    ]
    created_at: Annotated[datetime, Field(description="When the payment was started.")]


class InvoiceDetail(InvoiceView):
    """An invoice with its credit notes and payments."""

    credit_notes: Annotated[list[CreditedView], Field(description="Credit notes of this invoice.")]
    payments: Annotated[
        list[PaidView], Field(description="Payments of this invoice, including failed ones.")
    ]
    blocked_by: Annotated[
        str | None,
        Field(
            description="Code of the problem that keeps this invoice from being issued. Null if "
            "nothing does."
        ),
    ] = None


class WriteOff(Body):
    """Why the invoice is written off."""

    reason: Annotated[str, text(5, 500), Field(description="Reason, kept in the audit trail.")]


@router.get("/billing/invoices")
async def list_invoices(
    read: Annotated[Reader, reads(Permission.INVOICE_READ)],
    page: Annotated[Paged, paged("createdAt", "issueDate", "number", default="-createdAt")],
    organization_id: OfOrganization = None,
    status: Annotated[InvoiceStatus | None, Query(description="Filter by status.")] = None,
    collection_status: Annotated[
        CollectionStatus | None,
        Query(alias="collectionStatus", description="Filter by collection status."),
    ] = None,
    subscription_id: Annotated[
        UUID | None, Query(alias="subscriptionId", description="Filter by subscription.")
    ] = None,
    issued_from: IssuedFrom = None,
    issued_to: IssuedTo = None,
    overdue: Annotated[
        bool | None, Query(description="Filter by whether the due date has passed.")
    ] = None,
) -> PageOf[InvoiceView]:
    """List the organization's invoices, including drafts, newest first."""
    await on_behalf_of(read, organization_id)
    filters = InvoiceFilters(
        status, collection_status, subscription_id, issued_from, issued_to, overdue
    )
    found = await invoicing.list_invoices(read, page, filters)
    lines = await invoice_lines_by_id(read, [invoice.id for invoice in found.items])
    return PageOf[InvoiceView].of(
        found, lambda invoice: InvoiceView.of(invoice, lines[invoice.id], read)
    )


@router.get("/billing/invoices/{invoiceId}")
async def get_invoice(
    invoice_id: InvoiceId, read: Annotated[Reader, reads(Permission.INVOICE_READ)]
) -> InvoiceDetail:
    """Get an invoice with its lines, credit notes and payments."""
    return await _detail(read, await read.get(Invoice, invoice_id))


@router.get("/billing/invoices/{invoiceId}/pdf", responses=PRINTED, response_class=Response)
async def print_invoice(
    invoice_id: InvoiceId,
    read: Annotated[Reader, reads(Permission.INVOICE_READ)],
    copy: Copy = False,
) -> Response:
    """Download the invoice as PDF. It is rendered once; request `copy=true` for further prints."""
    invoice = await invoicing.issued_invoice(read, invoice_id)
    edition = Edition.COPY if copy else Edition.ORIGINAL
    found = await printing.find_pdf(read, invoice.id, edition=edition)
    return printed(invoice.id, invoice.number, found)


@router.post("/billing/invoices/{invoiceId}/write-off", responses=problems(InvalidTransition))
async def write_off_invoice(
    invoice_id: InvoiceId,
    body: WriteOff,
    work: Annotated[Work, writes(Permission.INVOICE_WRITE_OFF)],
) -> InvoiceDetail:
    """Write off the unpaid rest of an invoice. A later payment still pays it."""
    invoice = await dunning.write_off(work, invoice_id, reason=body.reason)
    return await _detail(work, invoice)


async def _detail(read: Reader, invoice: Invoice) -> InvoiceDetail:
    shown = InvoiceView.of(invoice, await invoice_lines(read, invoice.id), read)
    notes = await invoicing.credit_notes_of(read, invoice.id)
    around = {
        "blocked_by": await invoicing.issue_blocker(read, invoice),
        "credit_notes": [CreditedView.of(note) for note in notes],
        "payments": [
            PaidView.model_validate(payment)
            for payment in await payments.payments_of_invoice(read, invoice.id)
        ],
    }
    return InvoiceDetail.shown(shown.__dict__ | around)
