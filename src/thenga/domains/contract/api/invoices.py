"""Invoices of a contract."""

from base64 import b64encode
from hashlib import sha256
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response

from thenga.domains.contract.api.invoice_bodies import (
    ChangeContractInvoice,
    CreateContractInvoice,
)
from thenga.domains.contract.api.invoice_views import ContractInvoiceDetail, ContractInvoiceView
from thenga.domains.contract.api.workspace_ids import WorkspaceId
from thenga.domains.contract.permissions import Permission
from thenga.domains.contract.services import invoicing, workspaces
from thenga.domains.contract.services.invoicing import (
    Bucket,
    InvoiceFilters,
    InvoiceTaxDataMissing,
    OverMilestone,
    OverValue,
    PlanMissing,
)
from thenga.domains.contract.services.ledger import ContractNotActive
from thenga.domains.contract.services.workspaces import ConfirmationMissing, ContractOver
from thenga.domains.contract.tables import (
    CreditNote,
    Edition,
    Invoice,
    InvoiceKind,
    InvoiceStatus,
)
from thenga.kernel.db.paging import Paged
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import (
    Conflict,
    DependencyUnavailable,
    Duplicate,
    Forbidden,
    InvalidTransition,
    NotFound,
    RuleViolated,
    StepUpRequired,
)
from thenga.kernel.http.bodies import PageOf
from thenga.kernel.http.doors import router as make_router
from thenga.kernel.http.entrances import reads, writes
from thenga.kernel.http.exports import AS_FILE, AsCsv, csv_file
from thenga.kernel.http.lists import paged
from thenga.kernel.http.reference import problems
from thenga.kernel.values.calendar import HOME_ZONE
from thenga.kernel.values.fields import Day

router = make_router("Contract / Invoices")

InvoiceId = Annotated[UUID, Path(alias="invoiceId", description="ID of the invoice.")]
_OURS = ("submit",)
_HEADER = (
    *("number", "kind", "status", "payable", "vat", "paid", "outstanding", "currency"),
    *("submittedOn", "receivedOn", "dueOn", "bucket", "id"),
)
# The answers of a print; the first is no JSON, so no test can record it as an example.
PRINTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The PDF as an attachment. Every download returns the same bytes.",
        "content": {
            "application/pdf": {
                "schema": {"type": "string", "format": "binary"},
                "example": "%PDF-1.7 …",
            }
        },
    },
    202: {
        "description": "The PDF is being rendered. Try again after `Retry-After` seconds.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["status"],
                    "properties": {
                        "status": {"const": "rendering", "description": "Always `rendering`."}
                    },
                },
                "example": {"status": "rendering"},
            }
        },
    },
}


@router.post(
    "/contracts/workspaces/{workspaceId}/invoices",
    status_code=201,
    responses=problems(
        RuleViolated,
        ContractOver,
        ContractNotActive,
        PlanMissing,
        Duplicate,
        OverValue,
        OverMilestone,
        InvoiceTaxDataMissing,
        DependencyUnavailable,
        Forbidden,
    ),
)
async def create_contract_invoice(
    workspace_id: WorkspaceId,
    body: CreateContractInvoice,
    work: Annotated[Work, writes(Permission.INVOICE_CREATE)],
) -> ContractInvoiceDetail:
    """Draft an invoice from milestones of the plan, or claim an advance or a release of retention.

    `submit: true` submits it at once and needs the permission to submit invoices. A draft reserves
    nothing and has no number.
    """
    ours = None
    if body.submit:
        await workspaces.demand(work, Permission.INVOICE_SUBMIT)
        ours = None if body.external_number else await invoicing.seller_of(work)
    invoice = await invoicing.create_invoice(
        work,
        workspace_id,
        kind=body.kind,
        lines=[line.to_line() for line in body.lines],
        fields={
            "external_number": body.external_number,
            "document_ref": _document(body),
            "supply_date": body.supply_date,
            "note": body.note,
        },
        submit_as=ours,
        is_submitted=body.submit,
    )
    return await _detail(work, invoice)


def _document(body: CreateContractInvoice | ChangeContractInvoice) -> dict[str, Any] | None:
    reference = body.document_ref
    return None if reference is None else reference.to_row()


async def _detail(read: Reader, invoice: Invoice) -> ContractInvoiceDetail:
    lines = await invoicing.lines_of(read, invoice.id)
    notes = await invoicing.credit_notes_of(read, [invoice.id])
    payments = await invoicing.payments_of(read, invoice.id)
    detail = ContractInvoiceDetail.of_parts(invoice, lines, notes[invoice.id], payments, read.now)
    replacement = await invoicing.replacement_of(read, invoice.id)
    detail.replaced_by = None if replacement is None else replacement.id
    return detail


@router.get("/contracts/invoices", response_model=PageOf[ContractInvoiceView], responses=AS_FILE)
async def list_contract_invoices(
    read: Annotated[Reader, reads(Permission.INVOICE_READ)],
    page: Annotated[Paged, paged("createdAt", "dueOn", default="-createdAt")],
    as_csv: AsCsv,
    workspace_id: Annotated[
        UUID | None, Query(alias="workspaceId", description="Filter by contract.")
    ] = None,
    status: Annotated[InvoiceStatus | None, Query(description="Filter by status.")] = None,
    kind: Annotated[InvoiceKind | None, Query(description="Filter by kind.")] = None,
    payment_status: Annotated[
        Literal["unpaid", "partly_paid", "paid"] | None,
        Query(alias="paymentStatus", description="Filter by payment status."),
    ] = None,
    bucket: Annotated[Bucket | None, Query(description="Filter by ageing bucket.")] = None,
    due_before: Annotated[
        Day | None, Query(alias="dueBefore", description="Due before this date.")
    ] = None,
) -> PageOf[ContractInvoiceView] | Response:
    """List invoices to buyers, newest first. `Accept: text/csv` returns the page as a file."""
    filters = InvoiceFilters(workspace_id, status, kind, payment_status, bucket, due_before)
    found = await invoicing.list_invoices(read, page, filters)
    views = PageOf[ContractInvoiceView].of(found, lambda one: ContractInvoiceView.of(one, read.now))
    return _file(views.items) if as_csv else views


def _file(views: list[ContractInvoiceView]) -> Response:
    rows = [
        (
            *(one.number, one.kind.value, one.status.value, one.payable, one.vat),
            *(one.paid, one.outstanding, one.payable.currency),
            *(one.submitted_on, one.received_on, one.due_on, one.bucket.value, one.id),
        )
        for one in views
    ]
    return csv_file("invoices", _HEADER, rows, time_zone=HOME_ZONE)


@router.get("/contracts/invoices/{invoiceId}")
async def get_contract_invoice(
    invoice_id: InvoiceId, read: Annotated[Reader, reads(Permission.INVOICE_READ)]
) -> ContractInvoiceDetail:
    """Get an invoice with its lines, payment clock, credit notes and payments."""
    return await _detail(read, await read.get(Invoice, invoice_id))


@router.get("/contracts/invoices/{invoiceId}/pdf", responses=PRINTED, response_class=Response)
async def print_contract_invoice(
    invoice_id: InvoiceId,
    read: Annotated[Reader, reads(Permission.INVOICE_READ)],
    copy: Annotated[bool, Query(description='Whether to get the PDF marked "Copy".')] = False,
    credit_note_id: Annotated[
        UUID | None,
        Query(
            alias="creditNoteId", description="Download this credit note of the invoice instead."
        ),
    ] = None,
) -> Response:
    """Download an invoice or one of its credit notes as a PDF. It is rendered once."""
    document: Invoice | CreditNote = await read.get(Invoice, invoice_id)
    if credit_note_id is not None:
        document = await read.get(CreditNote, credit_note_id)
        if document.invoice_id != invoice_id:
            raise NotFound()
    if (document.printed or {}).get("seller") is None:
        raise NotFound("There is no PDF of a draft or of an invoice issued elsewhere.")
    edition = Edition.COPY if copy else Edition.ORIGINAL
    found = await invoicing.find_pdf(read, document.id, edition=edition)
    if found is None:
        waiting = {"Retry-After": "2"}
        return Response(b'{"status":"rendering"}', 202, waiting, media_type="application/json")
    digest = b64encode(sha256(found.content).digest()).decode()
    headers = {
        "Content-Disposition": f'attachment; filename="{document.number}.pdf"',
        "Content-Digest": f"sha-256=:{digest}:",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(found.content, 200, headers, media_type="application/pdf")


@router.patch(
    "/contracts/invoices/{invoiceId}",
    responses=problems(
        ContractOver,
        InvalidTransition,
        Conflict,
        Duplicate,
        OverValue,
        OverMilestone,
        InvoiceTaxDataMissing,
        ConfirmationMissing,
        RuleViolated,
        DependencyUnavailable,
        Forbidden,
        StepUpRequired,
    ),
)
async def change_contract_invoice(
    invoice_id: InvoiceId,
    body: ChangeContractInvoice,
    work: Annotated[Work, writes(Permission.INVOICE_UPDATE, if_match=True)],
) -> ContractInvoiceDetail:
    """Change a draft, and make at most one move.

    The payment clock starts when the buyer receives the invoice. A return stops it, and the next
    receipt starts it again. `credit`, `replace`, `write_off` and `resolve` with outcome `reduced`
    require recent identity verification and a reason.
    """
    fields = body.changes()
    asked, ours = fields.pop("move", None), None
    move = None if asked is None else asked.to_move()
    if asked is not None and (right := asked.right()) is not None:
        await workspaces.demand(work, right)
    if asked is not None and asked.verb in _OURS:
        known = await work.get(Invoice, invoice_id)
        external = fields.get("external_number", known.external_number)
        ours = None if external else await invoicing.seller_of(work)
    if "document_ref" in fields:
        fields["document_ref"] = _document(body)
    lines = [line.to_line() for line in body.lines] if fields.pop("lines", None) else None
    changed = await invoicing.change_invoice(
        work, invoice_id, fields=fields, lines=lines, move=move, submit_as=ours
    )
    return await _detail(work, changed)
