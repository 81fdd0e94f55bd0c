"""Credit notes: what was given back of an invoice, and why."""

from datetime import date, datetime
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
from thenga.domains.billing.api.invoices import InvoiceId
from thenga.domains.billing.api.terms import Rand
from thenga.domains.billing.lifecycles import CreditNoteLifecycle
from thenga.domains.billing.permissions import Permission
from thenga.domains.billing.services import invoicing, printing
from thenga.domains.billing.services.acting import act_for
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
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import AllowedMove
from thenga.kernel.errors import InvalidTransition, RuleViolated
from thenga.kernel.http.bodies import Body, PageOf, Stored, View
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.fields import text
from thenga.kernel.values.money import Money

router = make_router("Billing / Credit note")

CreditNoteId = Annotated[UUID, Path(alias="creditNoteId")]


class CreditLineBody(Body):
    invoice_line_id: UUID
    gross: Annotated[Rand, Field(description="VAT included, more than 0, at most what is left.")]


class IssueCreditNote(Body):
    lines: Annotated[list[CreditLineBody], Field(min_length=1, max_length=50)]
    reason_code: CreditReason
    explanation: Annotated[str, text(5, 300), Field(description="Printed on the document.")]


class CreditNoteLineView(View):
    id: UUID
    invoice_line_id: UUID
    description: str
    gross: Money

    @classmethod
    def of(cls, line: CreditNoteLine, currency: str) -> "CreditNoteLineView":
        return cls.shown(line.__dict__ | {"gross": Money(line.gross_minor, currency)})


class CreditNoteView(Stored):
    """A credit note; `number` is null for the moment until it is issued."""

    organization_id: UUID
    account_id: UUID
    invoice_id: UUID
    invoice_number: str | None
    book: Book
    status: CreditNoteStatus
    number: str | None
    seller: SellerView | None
    recipient: RecipientView
    reason_code: CreditReason
    explanation: str
    issue_date: date | None
    lines: list[CreditNoteLineView]
    tax_lines: list[TaxLineView]
    net: Money
    vat: Annotated[
        Money, Field(description="Of all credited so far less that of the notes before.")
    ]
    gross: Money
    pdf: PdfView | None
    allowed_moves: list[AllowedMove]

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
    """Give back a part of an invoice, or all of it. What was paid becomes credit."""
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
    invoice_id: Annotated[UUID | None, Query(alias="invoiceId")] = None,
    reason_code: Annotated[CreditReason | None, Query(alias="reasonCode")] = None,
    issued_from: IssuedFrom = None,
    issued_to: IssuedTo = None,
) -> PageOf[CreditNoteView]:
    """The credit notes of the organization, the newest first."""
    await act_for(read, organization_id)
    found = await invoicing.list_credit_notes(
        read,
        page,
        invoice_id=invoice_id,
        reason_code=reason_code,
        issued_from=issued_from,
        issued_to=issued_to,
    )
    lines = await credit_note_lines_by_id(read, [one.id for one in found.items])
    return PageOf[CreditNoteView].of(
        found, lambda note: CreditNoteView.of(note, lines[note.id], read.now)
    )


@router.get("/billing/credit-notes/{creditNoteId}")
async def get_credit_note(
    credit_note_id: CreditNoteId, read: Annotated[Reader, reads(Permission.INVOICE_READ)]
) -> CreditNoteView:
    """One credit note with its lines."""
    note = await read.get(CreditNote, credit_note_id)
    return CreditNoteView.of(note, await credit_note_lines(read, note.id), read.now)


@router.get("/billing/credit-notes/{creditNoteId}/pdf", responses=PRINTED, response_class=Response)
async def print_credit_note(
    credit_note_id: CreditNoteId,
    read: Annotated[Reader, reads(Permission.INVOICE_READ)],
    copy: Copy = False,
) -> Response:
    """The credit note as PDF, typeset once; a further print should say that it is a copy."""
    note = await invoicing.issued_credit_note(read, credit_note_id)
    edition = Edition.COPY if copy else Edition.ORIGINAL
    found = await printing.find_pdf(read, note.id, edition=edition)
    return printed(note.id, note.number, found)
