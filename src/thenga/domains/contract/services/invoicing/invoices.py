"""Invoices as people and time move them: one change with at most one move, lists and ageing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ColumnElement, literal_column, select

from thenga.domains.contract import public
from thenga.domains.contract.lifecycles.money import InvoiceLifecycle
from thenga.domains.contract.services import workspaces
from thenga.domains.contract.services.invoicing import drafts, moves, payment_clock, submission
from thenga.domains.contract.services.invoicing.drafts import LineGiven
from thenga.domains.contract.services.invoicing.moves import InvoiceMove
from thenga.domains.contract.services.invoicing.payment_clock import Bucket
from thenga.domains.contract.services.invoicing.submission import (
    Seller,
    buyer_of,
    check_tax_data,
)
from thenga.domains.contract.tables import (
    CreditNote,
    Invoice,
    InvoiceKind,
    InvoiceStatus,
    Payment,
    PaymentState,
    Workspace,
)
from thenga.domains.contract.values.refusals import invalid
from thenga.domains.contract.values.terms import Terms
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_BY: dict[str, ColumnElement[Any]] = {
    "createdAt": Invoice.created_at,
    # An invoice whose clock does not run is the last one.
    "dueOn": literal_column("coalesce(due_on, DATE '9999-12-31')", type_=sa.Date()),
}


async def create_invoice(
    work: Work,
    workspace_id: UUID,
    *,
    kind: InvoiceKind,
    lines: Sequence[LineGiven],
    fields: Mapping[str, Any],
    submit_as: Seller | None,
    is_submitted: bool,
) -> Invoice:
    """Begin an invoice, and submit it at once where the caller wants that."""
    invoice = await drafts.create_draft(work, workspace_id, kind=kind, lines=lines, fields=fields)
    if is_submitted:
        await work.hold(invoice)
        workspace = await workspaces.workspace_for(work, workspace_id)
        check_parties(workspace, invoice, submit_as)
        await submission.submit(work, invoice, workspace, submit_as)
    return invoice


async def change_invoice(
    work: Work,
    invoice_id: UUID,
    *,
    fields: Mapping[str, Any],
    lines: Sequence[LineGiven] | None,
    move: InvoiceMove | None,
    submit_as: Seller | None,
) -> Invoice:
    """Change a draft and make at most one move. What is there already stays untold."""
    known = await work.get(Invoice, invoice_id)
    workspace = await workspaces.workspace_for(work, known.workspace_id)
    invoice = await work.lock(Invoice, invoice_id)
    if fields or lines is not None:
        await drafts.change_draft(work, invoice, workspace, lines=lines, fields=fields)
    if move is None or move.verb == "submit":
        if move is not None:
            check_parties(workspace, invoice, submit_as)
            await submission.submit(work, invoice, workspace, submit_as)
        return await work.save(invoice)
    before = invoice.status
    await _make(work, invoice, workspace, move)
    if not work.changes(invoice):
        return invoice
    if invoice.status is not before:
        invoice.status_changed_at, invoice.status_changed_by = work.now, work.actor.id
        invoice.status_reason = move.reason or move.reason_code
    await work.save(invoice)
    if invoice.number is not None:
        moves.publish_change(work, invoice, _CHANGES[move.verb])
    return invoice


_CHANGES = {
    "receive": "received",
    "return": "returned",
    "resubmit": "resubmitted",
    "approve": "approved",
    "dispute": "disputed",
    "resolve": "resolved",
    "credit": "credited",
    "replace": "replaced",
    "write_off": "written_off",
}


async def _make(work: Work, invoice: Invoice, workspace: Workspace, move: InvoiceMove) -> None:
    match move.verb:
        case "receive":
            await moves.receive(work, invoice, workspace, move.on)
        case "return":
            await moves.return_invoice(work, invoice, move)
        case "resubmit":
            InvoiceLifecycle.resubmit(invoice, at=work.now)
        case "approve":
            await moves.approve(work, invoice, workspace, move)
        case "dispute":
            moves.dispute(work, invoice, move)
        case "resolve":
            await moves.resolve(work, invoice, workspace, move)
        case "credit" | "replace" if invoice.status is InvoiceStatus.CREDITED:
            pass  # it was credited whole already
        case "credit":
            await moves.credit(work, invoice, workspace, move.amount, move)
        case "replace":
            await moves.replace(work, invoice, workspace, move)
        case "write_off":
            await moves.write_off(work, invoice, workspace, move.amount)
        case "discard":
            InvoiceLifecycle.discard(invoice, at=work.now)


def check_parties(workspace: Workspace, invoice: Invoice, ours: Seller | None) -> None:
    """Refuse to issue an invoice that lacks a field of a full tax invoice."""
    if ours is not None:
        check_tax_data(ours, buyer_of(workspace), Terms.of_row(workspace.terms).vat_treatment)
    elif invoice.external_number is None:
        raise invalid("/externalNumber", "Send the number of the invoice issued elsewhere.")


@dataclass(frozen=True, slots=True)
class InvoiceFilters:
    """What the list may be narrowed to."""

    workspace_id: UUID | None = None
    status: InvoiceStatus | None = None
    kind: InvoiceKind | None = None
    payment_status: str | None = None
    bucket: Bucket | None = None
    due_before: date | None = None


async def list_invoices(read: Reader, paged: Paged, filters: InvoiceFilters) -> Slice[Invoice]:
    """Invoices of the organization."""
    statement = where_given(
        select(Invoice),
        (Invoice.workspace_id, filters.workspace_id),
        (Invoice.status, filters.status),
        (Invoice.kind, filters.kind),
    )
    if filters.due_before is not None:
        statement = statement.where(Invoice.due_on < filters.due_before)
    if filters.payment_status is not None:
        statement = statement.where(_is_paid(filters.payment_status))
    if filters.bucket is not None:
        statement = statement.where(*_of_age(filters.bucket, local_day(read.now)))
    return await read.page(statement, paged, by=_BY[paged.sort])


def _is_paid(payment_status: str) -> ColumnElement[bool]:
    """The same as `payment_status`, for the database."""
    settled = Invoice.paid_minor + Invoice.credited_minor + Invoice.written_off_minor
    if payment_status == "unpaid":
        return Invoice.paid_minor == 0
    if payment_status == "paid":
        return (Invoice.paid_minor > 0) & (settled == Invoice.payable_minor)
    return (Invoice.paid_minor > 0) & (settled < Invoice.payable_minor)


def is_owed() -> list[ColumnElement[bool]]:
    """Invoices of which something is open and not disputed, for the database."""
    owed = (
        Invoice.payable_minor
        - Invoice.paid_minor
        - Invoice.credited_minor
        - Invoice.written_off_minor
        - Invoice.disputed_minor
    )
    return [among(Invoice.status, InvoiceLifecycle.OPEN), owed > 0]


def _of_age(bucket: Bucket, today: date) -> list[ColumnElement[bool]]:
    """Invoices with something overdue in this bucket on this day."""
    first, last = payment_clock.due_days_of(bucket, today)
    if bucket is Bucket.NOT_DUE:
        return [*is_owed(), Invoice.due_on.is_(None) | (Invoice.due_on >= today)]
    bounds: list[ColumnElement[bool]] = [Invoice.due_on <= last]
    return [*is_owed(), *bounds, *([Invoice.due_on >= first] if first is not None else [])]


def payment_status(invoice: Invoice) -> str:
    """How much of the invoice was paid in money."""
    if not invoice.paid_minor:
        return "unpaid"
    return "partly_paid" if invoice.outstanding_minor else "paid"


def bucket_of(invoice: Invoice, today: date) -> Bucket:
    """The age of what is owed; right also before any job has run (CON-23)."""
    is_open = invoice.status in InvoiceLifecycle.OPEN
    if not is_open or invoice.outstanding_minor <= invoice.disputed_minor:
        return Bucket.NOT_DUE
    return payment_clock.bucket_on(invoice.due_on, today)


async def credit_notes_of(
    read: Reader, invoice_ids: Sequence[UUID]
) -> dict[UUID, list[CreditNote]]:
    """Credit notes of a page of invoices, by invoice."""
    found: dict[UUID, list[CreditNote]] = {one: [] for one in invoice_ids}
    if found:
        statement = select(CreditNote).where(among(CreditNote.invoice_id, found))
        for note in await read.all(statement.order_by(CreditNote.id)):
            found[note.invoice_id].append(note)
    return found


async def replacement_of(read: Reader, invoice_id: UUID) -> Invoice | None:
    """The invoice that replaces this one."""
    return await read.find(Invoice, replaces_id=invoice_id)


async def list_payments(
    read: Reader, paged: Paged, *, workspace_id: UUID | None, state: PaymentState | None
) -> Slice[Payment]:
    """Payments of the organization."""
    statement = where_given(
        select(Payment), (Payment.workspace_id, workspace_id), (Payment.state, state)
    )
    return await read.page(statement, paged)


async def payments_of(read: Reader, invoice_id: UUID) -> list[Payment]:
    """Payments on one invoice, the oldest first."""
    statement = select(Payment).where(Payment.invoice_id == invoice_id)
    return await read.all(statement.order_by(Payment.id))


async def tell_overdue(work: Work, invoice_id: UUID) -> None:
    """Publish each bucket that the invoice has reached, in order and once (CON-23)."""
    invoice = await work.lock(Invoice, invoice_id)
    reached = bucket_of(invoice, local_day(work.now))
    told = Bucket(invoice.told_bucket or Bucket.NOT_DUE)
    ages = list(Bucket)
    passed = ages[ages.index(told) + 1 : ages.index(reached) + 1]
    if passed:
        invoice.told_bucket = reached
    moves.watch(invoice)
    await work.save(invoice)
    if passed:
        workspace = await work.get(Workspace, invoice.workspace_id)
        workspaces.carry_correlation(work, workspace)
        for bucket in passed:
            _publish_overdue(work, invoice, workspace, bucket)


def _publish_overdue(work: Work, invoice: Invoice, workspace: Workspace, bucket: Bucket) -> None:
    assert invoice.number and invoice.due_on  # noqa: S101  # a clock runs
    owed = invoice.outstanding_minor - invoice.disputed_minor
    work.publish(
        public.InvoiceOverdue(
            organization_id=invoice.organization_id,
            workspace_id=invoice.workspace_id,
            invoice_id=invoice.id,
            number=invoice.number,
            due_on=invoice.due_on,
            bucket=bucket.value,
            outstanding=Money(owed, invoice.currency),
            interest_per_day=None,
            counterparty_kind=workspace.counterparty_kind,
        )
    )
