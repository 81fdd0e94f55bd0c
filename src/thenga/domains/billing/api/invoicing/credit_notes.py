"""Credit notes: what was credited of an invoice, and why."""

from datetime import date, datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from thenga.domains.billing.api.catalogue.terms import Rand
from thenga.domains.billing.api.common_fields import AccountRef, AllowedMoves, OrganizationRef
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
from thenga.domains.billing.api.invoicing.invoices import InvoiceId
from thenga.domains.billing.lifecycles import CreditNoteLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import invoicing, printing
from thenga.domains.billing.services.invoicing import (
    CreditExceeds,
    credit_note_lines,
    credit_note_lines_by_id,
)
from thenga.domains.billing.tables import (
    Book,
    CreditNote,
    CreditNoteLine,
    CreditNoteStatus,
    CreditReason,
    Edition,
)
from thenga.kernel.db.acting import on_behalf_of
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import OfOrganization, paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import text
from thenga.kernel.values.money import Money

router = make_router("Billing / Credit note")

CreditNoteId = Annotated[UUID, Path(alias="creditNoteId", description="The credit note.")]


class CreditLineBody(Body):
    """The amount to credit on one invoice line."""

    invoice_line_id: Annotated[UUID, Field(description="Invoice line to credit.")]
    gross: Annotated[
        Rand,
        Field(
            description="Amount to credit, VAT included. More than 0, and at most what is left "
            "of the line."
        ),
    ]


class IssueCreditNote(Body):
    """The lines to credit, and why."""

    lines: Annotated[
        list[CreditLineBody],
        Field(min_length=1, max_length=50, description="Lines to credit, at most 50."),
    ]
    reason_code: Annotated[CreditReason, Field(description="Reason category.")]
    explanation: Annotated[
        str, text(5, 300), Field(description="Explanation printed on the document.")
    ]


class CreditNoteLineView(View):
    """The amount credited on one invoice line."""

    id: Annotated[UUID, Field(description="The credit note line.")]
    invoice_line_id: Annotated[UUID, Field(description="Invoice line it credits.")]
    description: Annotated[str, Field(description="Text printed on the document.")]
    gross: Annotated[Money, Field(description="Amount credited, VAT included.")]

    @classmethod
    def of(cls, line: CreditNoteLine, currency: str) -> "CreditNoteLineView":
        return cls.shown(line.__dict__ | {"gross": Money(line.gross_minor, currency)})


class CreditNoteView(Stored):
    """A credit note. `number` is null for a moment, until it is issued."""

    organization_id: OrganizationRef
    account_id: AccountRef
    invoice_id: Annotated[UUID, Field(description="Invoice it credits.")]
    invoice_number: Annotated[str | None, Field(description="Number of that invoice.")]
    book: Annotated[
        Book, Field(description="`live` or `sandbox`. Sandbox documents are specimens.")
    ]
    status: Annotated[CreditNoteStatus, Field(description="Status of the credit note.")]
    number: Annotated[str | None, Field(description="Document number, assigned when it is issued.")]
    seller: Annotated[SellerView | None, Field(description="Seller, as printed. Null on a draft.")]
    recipient: Annotated[RecipientView, Field(description="Recipient, as printed.")]
    reason_code: Annotated[CreditReason, Field(description="Reason category.")]
    explanation: Annotated[str, Field(description="Explanation printed on the document.")]
    issue_date: Annotated[date | None, Field(description="Local day of issue. Null on a draft.")]
    lines: Annotated[list[CreditNoteLineView], Field(description="Credited lines.")]
    tax_lines: Annotated[list[TaxLineView], Field(description="Totals by VAT rate.")]
    net: Annotated[Money, Field(description="Total without VAT.")]
    vat: Annotated[
        Money,
        Field(
            description="VAT on everything credited so far, less the VAT of earlier credit notes."
        ),
    ]
    gross: Annotated[Money, Field(description="Total credited, VAT included.")]
    pdf: Annotated[PdfView | None, Field(description="The PDF. Null until it is rendered.")]
    allowed_moves: AllowedMoves

    @property
    def own_path(self) -> str:
        return f"/v1/billing/credit-notes/{self.id}"

    @classmethod
    def of(cls, note: CreditNote, lines: list[CreditNoteLine], now: datetime) -> "CreditNoteView":
        values = note.__dict__ | amounts(note) | parties(note)
        values |= {
            "lines": [CreditNoteLineView.of(line, note.currency) for line in lines],
            "allowed_moves": CreditNoteLifecycle.allowed(note, now),
        }
        return cls.shown(values)


@router.post(
    "/billing/invoices/{invoiceId}/credit-notes",
    status_code=201,
    responses=problems(CreditExceeds, InvalidTransition, RuleViolated),
)
async def issue_credit_note(
    invoice_id: InvoiceId,
    body: IssueCreditNote,
    work: Annotated[Work, writes(Permission.CREDIT_NOTE_ISSUE)],
) -> CreditNoteView:
    """Credit an invoice in part or in full. Any amount already paid becomes account credit."""
    note = await invoicing.issue_credit_note(
        work,
        invoice_id,
        credited=[(line.invoice_line_id, line.gross.money) for line in body.lines],
        reason_code=body.reason_code,
        explanation=body.explanation,
    )
    return CreditNoteView.of(note, await credit_note_lines(work, note.id), work.now)


@router.get("/billing/credit-notes")
async def list_credit_notes(
    read: Annotated[Reader, reads(Permission.INVOICE_READ)],
    page: Annotated[Paged, paged("createdAt", "issueDate", "number", default="-createdAt")],
    organization_id: OfOrganization = None,
    invoice_id: Annotated[
        UUID | None, Query(alias="invoiceId", description="Filter by invoice.")
    ] = None,
    reason_code: Annotated[
        CreditReason | None, Query(alias="reasonCode", description="Filter by reason.")
    ] = None,
    issued_from: IssuedFrom = None,
    issued_to: IssuedTo = None,
) -> PageOf[CreditNoteView]:
    """List the organization's credit notes, newest first."""
    await on_behalf_of(read, organization_id)
    found = await invoicing.list_credit_notes(
        read,
        page,
        invoice_id=invoice_id,
        reason_code=reason_code,
        issued_from=issued_from,
        issued_to=issued_to,
    )
    lines = await credit_note_lines_by_id(read, [note.id for note in found.items])
    return PageOf[CreditNoteView].of(
        found, lambda note: CreditNoteView.of(note, lines[note.id], read.now)
    )


@router.get("/billing/credit-notes/{creditNoteId}")
async def get_credit_note(
    credit_note_id: CreditNoteId, read: Annotated[Reader, reads(Permission.INVOICE_READ)]
) -> CreditNoteView:
    """Get a credit note with its lines."""
    note = await read.get(CreditNote, credit_note_id)
    return CreditNoteView.of(note, await credit_note_lines(read, note.id), read.now)


@router.get("/billing/credit-notes/{creditNoteId}/pdf", responses=PRINTED, response_class=Response)
async def print_credit_note(
    credit_note_id: CreditNoteId,
    read: Annotated[Reader, reads(Permission.INVOICE_READ)],
    copy: Copy = False,
) -> Response:
    """Download the credit note as PDF. It is rendered once; request `copy=true` for further
    prints."""
    note = await invoicing.issued_credit_note(read, credit_note_id)
    edition = Edition.COPY if copy else Edition.ORIGINAL
    found = await printing.find_pdf(read, note.id, edition=edition)
    return printed(note.id, note.number, found)
