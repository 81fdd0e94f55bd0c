"""Invoices: what is owed, for which days, and what has come of it."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.billing.api.accounts import OfOrganization
from thenga.domains.billing.api.documents import (
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
from thenga.domains.billing.services.acting import act_for
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
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove, By
from thenga.kernel.errors import InvalidTransition
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.fields import text
from thenga.kernel.values.money import Money

router = make_router("Billing / Invoice")

InvoiceId = Annotated[UUID, Path(alias="invoiceId")]
_SUMS = ("credit_applied", "amount_paid", "amount_credited", "amount_due")


class UnitPriceView(View):
    """As money, with more places where a unit costs less than a cent."""

    amount: str
    currency: str


class InvoiceLineView(View):
    id: UUID
    kind: LineKind
    description: str
    quantity: int
    unit_price: Annotated[UnitPriceView, Field(description="What one costs, VAT included.")]
    gross: Annotated[Money, Field(description="VAT included; never negative.")]
    credited: Annotated[Money, Field(description="What credit notes gave back of it.")]
    service_from: Annotated[date | None, Field(description="The first day that is served.")]
    service_to: Annotated[date | None, Field(description="The first day that is not served.")]
    subscription_id: UUID | None
    plan_code: str | None
    plan_version: int | None

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
    """An invoice; once it has a number, nothing that it says changes."""

    organization_id: UUID
    account_id: UUID
    subscription_id: UUID | None
    purpose: Annotated[Purpose, Field(description="What it was made for.")]
    book: Annotated[
        Book, Field(description="Documents of a sandbox are specimens, with numbers of their own.")
    ]
    status: InvoiceStatus
    collection_status: Annotated[
        CollectionStatus, Field(description="How its money comes along, apart from `status`.")
    ]
    overdue: Annotated[bool, Field(description="Open, and its due date has passed.")]
    number: Annotated[str | None, Field(description="Given at the issue; null on a draft.")]
    title: Annotated[str, Field(description="`Tax Invoice`, or `Invoice` without VAT.")]
    seller: Annotated[SellerView | None, Field(description="As printed; known from the issue on.")]
    recipient: Annotated[
        RecipientView, Field(description="Who is billed, as printed; frozen at the issue.")
    ]
    order_number: Annotated[str | None, Field(description="The customer's own, as printed.")]
    issue_date: Annotated[
        date | None, Field(description="The local day of its number; null on a draft.")
    ]
    supply_date: Annotated[
        date | None, Field(description="The local day that counts for VAT; null on a draft.")
    ]
    due_date: Annotated[
        date | None,
        Field(description="The last local day on which it is paid in time; null on a draft."),
    ]
    lines: list[InvoiceLineView]
    tax_lines: Annotated[list[TaxLineView], Field(description="The sums by VAT rate.")]
    net: Annotated[Money, Field(description="The sum without VAT.")]
    vat: Annotated[
        Money, Field(description="The VAT that is in `gross`, computed once on the sum.")
    ]
    gross: Annotated[Money, Field(description="The sum of the lines, VAT included.")]
    credit_applied: Annotated[Money, Field(description="Paid out of the account's credit.")]
    amount_paid: Annotated[Money, Field(description="Paid with money that came for it.")]
    amount_credited: Annotated[Money, Field(description="Given back by credit notes.")]
    amount_due: Annotated[Money, Field(description="On a draft: less the credit it will find.")]
    pdf: Annotated[PdfView | None, Field(description="Null until it is typeset.")]
    allowed_moves: list[AllowedMove]

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

    id: UUID
    number: str | None
    status: CreditNoteStatus
    gross: Money
    issue_date: date | None

    @classmethod
    def of(cls, note: CreditNote) -> "CreditedView":
        return cls.shown(note.__dict__ | {"gross": Money(note.gross_minor, note.currency)})


class PaidView(View):
    """An attempt to pay this invoice."""

    id: UUID
    provider: str
    status: PaymentStatus
    amount: Money
    attempt: int
    created_at: datetime


class InvoiceDetail(InvoiceView):
    """An invoice with what came of it."""

    credit_notes: list[CreditedView]
    payments: list[PaidView]


class WriteOff(Body):
    reason: Annotated[str, text(5, 500)]


@router.get("/billing/invoices")
async def list_invoices(
    read: Annotated[Reader, reads(Permission.INVOICE_READ)],
    page: Annotated[Paged, paged("createdAt", "issueDate", "number", default="-createdAt")],
    organization_id: OfOrganization = None,
    status: InvoiceStatus | None = None,
    collection_status: Annotated[CollectionStatus | None, Query(alias="collectionStatus")] = None,
    subscription_id: Annotated[UUID | None, Query(alias="subscriptionId")] = None,
    issued_from: IssuedFrom = None,
    issued_to: IssuedTo = None,
    overdue: Annotated[bool | None, Query(description="Whether its due date passed.")] = None,
) -> PageOf[InvoiceView]:
    """The invoices of the organization, drafts included, the newest first."""
    await act_for(read, organization_id)
    filters = InvoiceFilters(
        status, collection_status, subscription_id, issued_from, issued_to, overdue
    )
    found = await invoicing.list_invoices(read, page, filters)
    lines = await invoice_lines_by_id(read, [one.id for one in found.items])
    return PageOf[InvoiceView].of(
        found, lambda invoice: InvoiceView.of(invoice, lines[invoice.id], read)
    )


@router.get("/billing/invoices/{invoiceId}")
async def get_invoice(
    invoice_id: InvoiceId, read: Annotated[Reader, reads(Permission.INVOICE_READ)]
) -> InvoiceDetail:
    """One invoice with its lines, its credit notes and its payments."""
    return await _detail(read, await read.get(Invoice, invoice_id))


@router.get("/billing/invoices/{invoiceId}/pdf", responses=PRINTED, response_class=Response)
async def print_invoice(
    invoice_id: InvoiceId,
    read: Annotated[Reader, reads(Permission.INVOICE_READ)],
    copy: Copy = False,
) -> Response:
    """The invoice as PDF. It is typeset once; every further print should say that it is a copy."""
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
    """Expect the rest of an invoice no more. Money that comes later still pays it."""
    invoice = await dunning.write_off(work, invoice_id, reason=body.reason)
    return await _detail(work, invoice)


async def _detail(read: Reader, invoice: Invoice) -> InvoiceDetail:
    shown = InvoiceView.of(invoice, await invoice_lines(read, invoice.id), read)
    notes = await invoicing.credit_notes_of(read, invoice.id)
    around = {
        "credit_notes": [CreditedView.of(note) for note in notes],
        "payments": [
            PaidView.model_validate(payment)
            for payment in await payments.payments_of_invoice(read, invoice.id)
        ],
    }
    return InvoiceDetail.shown(shown.__dict__ | around)
