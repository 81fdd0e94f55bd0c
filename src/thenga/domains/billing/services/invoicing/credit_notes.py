"""Credit notes: the only way to reverse part or all of an issued invoice (BIL-27)."""

from collections.abc import Sequence
from datetime import date
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.lifecycles import CreditNoteLifecycle
from thenga.domains.billing.services import pricing
from thenga.domains.billing.services.invoicing import billed_periods, issuing
from thenga.domains.billing.services.invoicing.lines import credit_note_lines, invoice_lines
from thenga.domains.billing.services.invoicing.queries import ORDERS
from thenga.domains.billing.services.pricing import Taxed
from thenga.domains.billing.tables import (
    CreditNote,
    CreditNoteLine,
    CreditNoteStatus,
    CreditReason,
    Invoice,
    InvoiceLine,
    InvoiceStatus,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import NotFound, Problem, RuleViolated, extensions
from thenga.kernel.values.money import Money

_CREDITED = (InvoiceStatus.OPEN, InvoiceStatus.PAID)
_RESERVE = """
    UPDATE billing.invoice_line
    SET credited_minor = credited_minor + $3, updated_at = $4, version = version + 1
    WHERE organization_id = $1 AND id = $2 AND credited_minor + $3 <= gross_minor
"""


class CreditExceeds(Problem):
    """A credit note cannot exceed what was charged, and a refund cannot exceed the available
    credit. Send at most the amount in `left`."""

    code, status, title = "billing-credit-exceeds", 422, "Amount exceeds what can be credited"
    members = extensions(
        invoiceLineId=(UUID, "Invoice line."),
        left=(Money, "Amount that can still be credited."),
    )


async def draft_credit_note(
    work: Work,
    invoice: Invoice,
    *,
    credited: Sequence[tuple[UUID, Money]],
    reason_code: CreditReason,
    explanation: str,
) -> CreditNote:
    """A credit note without a number. It has no effect until it is released."""
    _check_status(invoice)
    lines = {line.id: line for line in await invoice_lines(work, invoice.id)}
    _check_room(lines, credited, invoice.currency)
    gross = Money(sum(amount.minor for _, amount in credited), invoice.currency)
    taxed = credit_note_vat(invoice, gross)
    note = await work.add(
        CreditNote(
            organization_id=invoice.organization_id,
            account_id=invoice.account_id,
            invoice_id=invoice.id,
            book=invoice.book,
            seller_code=invoice.seller_code,
            recipient=invoice.recipient,
            reason_code=reason_code,
            explanation=explanation,
            currency=invoice.currency,
            rate_pct=invoice.rate_pct,
            gross_minor=taxed.gross.minor,
            net_minor=taxed.net.minor,
            vat_minor=taxed.vat.minor,
        )
    )
    for position, (line_id, amount) in enumerate(credited, 1):
        await work.add(_line(note, position, lines[line_id], amount))
    return note


def credit_note_vat(invoice: Invoice, credit: Money) -> Taxed:
    """The VAT of a credit note of this amount, at the invoice's rate, after earlier notes."""
    before = Money(invoice.amount_credited_minor, invoice.currency)
    return pricing.split_credit_vat(credit, before=before, rate_pct=invoice.rate_pct)


def _line(note: CreditNote, position: int, line: InvoiceLine, amount: Money) -> CreditNoteLine:
    return CreditNoteLine(
        organization_id=note.organization_id,
        credit_note_id=note.id,
        position=position,
        invoice_line_id=line.id,
        description=line.description,
        gross_minor=amount.minor,
    )


def is_creditable(invoice: Invoice) -> bool:
    """Whether the invoice can be credited: it is open, paid, or about to be issued."""
    waits = invoice.status is InvoiceStatus.DRAFT and invoice.released_at is not None
    return invoice.status in _CREDITED or waits


def _check_status(invoice: Invoice) -> None:
    if not is_creditable(invoice):
        raise not_possible(
            "Only an open or paid invoice can be credited. Check the status of this invoice.",
            status=invoice.status,
            operation="credit",
            allowed=[],
        )


def _check_room(
    lines: dict[UUID, InvoiceLine], credited: Sequence[tuple[UUID, Money]], currency: str
) -> None:
    asked: dict[UUID, int] = {}
    for line_id, amount in credited:
        if line_id not in lines:
            raise NotFound(
                "This invoice has no such line. Use a line ID of `GET /billing/invoices/{id}`."
            )
        asked[line_id] = asked.get(line_id, 0) + amount.minor
    for line_id, minor in asked.items():
        line = lines[line_id]
        if line.credited_minor + minor > line.gross_minor:
            raise _exceeds(line, currency)


def _exceeds(line: InvoiceLine, currency: str) -> CreditExceeds:
    left = Money(line.gross_minor - line.credited_minor, currency)
    return CreditExceeds(
        f"Only {left} of this line can still be credited.",
        invoiceLineId=str(line.id),
        left={"amount": left.amount, "currency": left.currency},
    )


async def release_credit_note(
    work: Work, note: CreditNote, *, cut_span_at: date | None = None
) -> None:
    """Credit the lines and end their billed days."""
    await work.hold(note)
    if note.released_at is not None or note.status is not CreditNoteStatus.DRAFT:
        return
    note.released_at = work.now
    await work.save(note)
    for line in await credit_note_lines(work, note.id):
        await _reserve(work, note, line)
        if cut_span_at is not None:
            await billed_periods.shorten_billed_period(work, line.invoice_line_id, at=cut_span_at)
    issuing.request_number(work, note)


async def _reserve(work: Work, note: CreditNote, line: CreditNoteLine) -> None:
    """One conditional update, so that two concurrent notes never exceed the line."""
    key = (note.organization_id, line.invoice_line_id)
    if await work.run(_RESERVE, *key, line.gross_minor, work.now) != "UPDATE 1":
        raise _exceeds(await work.get(InvoiceLine, line.invoice_line_id), note.currency)


async def discard(work: Work, note: CreditNote) -> None:
    """Discard a draft. A released credit note is kept."""
    await work.hold(note)
    if note.released_at is None and CreditNoteLifecycle.discard(note, at=work.now):
        await work.save(note)


async def issue_credit_note(
    work: Work,
    invoice_id: UUID,
    *,
    credited: Sequence[tuple[UUID, Money]],
    reason_code: CreditReason,
    explanation: str,
) -> CreditNote:
    """Credit lines at an operator's request. Their days stay billed."""
    if any(not amount for _, amount in credited):
        raise RuleViolated("Credit more than 0.00 on each line.", rule="credit-positive")
    invoice = await work.lock(Invoice, invoice_id)
    note = await draft_credit_note(
        work, invoice, credited=credited, reason_code=reason_code, explanation=explanation
    )
    await release_credit_note(work, note)
    return note


async def list_credit_notes(
    read: Reader,
    paged: Paged,
    *,
    invoice_id: UUID | None,
    reason_code: CreditReason | None,
    issued_from: date | None,
    issued_to: date | None,
) -> Slice[CreditNote]:
    """The organization's credit notes."""
    statement = select(CreditNote)
    statement = where_given(
        statement, (CreditNote.invoice_id, invoice_id), (CreditNote.reason_code, reason_code)
    )
    if issued_from is not None:
        statement = statement.where(CreditNote.issue_date >= issued_from)
    if issued_to is not None:
        statement = statement.where(CreditNote.issue_date <= issued_to)
    return await read.page(statement, paged, ORDERS.get(paged.sort))


async def credit_notes_of(read: Reader, invoice_id: UUID) -> list[CreditNote]:
    """The credit notes of an invoice, earliest first."""
    statement = select(CreditNote).where(CreditNote.invoice_id == invoice_id)
    return await read.all(statement.order_by(CreditNote.id), limit=200)


async def issued_credit_note(read: Reader, note_id: UUID) -> CreditNote:
    """A credit note with a number. A draft cannot be printed."""
    found = await read.get(CreditNote, note_id)
    if found.number is None:
        raise NotFound(
            "This credit note is being issued. Its PDF is available once it has a number."
        )
    return found
