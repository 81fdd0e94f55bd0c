"""Gapless document numbers: lock the series, then number, date and book (BIL-25).

The job numbers one document in a transaction, so a failure uses no number. Credit notes of an
organization come before its invoices, so that their credit is available.
"""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import public, settings
from thenga.domains.billing.lifecycles import CreditNoteLifecycle, InvoiceLifecycle
from thenga.domains.billing.services import access, customer, ledger, pricing
from thenga.domains.billing.services.customer import TaxDataMissing, recipient_of
from thenga.domains.billing.services.invoicing import due_dates
from thenga.domains.billing.services.invoicing.lines import (
    credit_note_lines,
    invoice_lines,
    spread_credit,
    spread_net,
)
from thenga.domains.billing.services.ledger import EntrySource
from thenga.domains.billing.tables import (
    Account,
    Book,
    CollectionMethod,
    CreditNote,
    DocumentKind,
    DocumentSeries,
    Invoice,
    InvoiceLine,
    Seller,
)
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.errors import Problem
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.ids import new_id
from thenga.kernel.values.money import Money

issue_documents = job_stub(
    "billing.issue_documents", form=Form.QUEUED, key="{seller}:{book}", as_system=True
)
render_pdf = job_stub("billing.render_pdf", form=Form.OUTSIDE, key="{document_id}", retries=5)

_PREFIX = {DocumentKind.INVOICE: "TI", DocumentKind.CREDIT_NOTE: "CN"}
_BEGIN = """
    INSERT INTO billing.document_series (id, created_at, updated_at, version, seller_code,
        document_kind, book, next_number, holder_id)
    VALUES ($1, $2, $2, 1, $3, $4, $5, 1, $6)
    ON CONFLICT DO NOTHING
"""
# Credit notes first, then by age. A credit note waits for the number of its invoice.
_WAITING = """
    SELECT kind, id FROM (
        SELECT 'credit_note' AS kind, n.id, n.released_at FROM billing.credit_note n
        JOIN billing.invoice i ON i.organization_id = n.organization_id AND i.id = n.invoice_id
        WHERE n.organization_id = $1 AND n.seller_code = $2 AND n.book = $3
            AND n.released_at IS NOT NULL AND n.number IS NULL AND i.number IS NOT NULL
        UNION ALL
        SELECT 'invoice', id, released_at FROM billing.invoice
        WHERE organization_id = $1 AND seller_code = $2 AND book = $3
            AND released_at IS NOT NULL AND number IS NULL
    ) AS waiting ORDER BY kind, released_at, id LIMIT 2
"""


class SellerNotSet(Problem):
    """No tax invoice can be issued or paid, because the installation still has the sample seller.

    An operator sets the seller with `thenga seller set`. Documents that wait are issued then, and
    can be paid.
    """

    code, status, title = "billing-seller-not-set", 409, "The seller is not set"


def title_of(seller: Seller) -> str:
    """Only a VAT vendor may use the words tax invoice (BIL-5)."""
    return "Invoice" if seller.vat_number is None else "Tax Invoice"


def request_number(work: Work, document: Invoice | CreditNote) -> None:
    """Have the numbering job process this organization's documents after this commits."""
    work.enqueue(issue_documents, seller=document.seller_code, book=document.book.value)


async def issue_next(work: Work, *, seller: str, book: str) -> None:
    """Number the next document as the system login, and enqueue the rest.

    Documents that wait for the seller stay as they are; a job asks for their numbers again once it
    is set (BIL-56).
    """
    if await is_blocked(work, seller, Book(book)):
        return
    # The lock order of settlement: the account before its documents.
    account = await customer.lock_account(work)
    waiting = await work.query(_WAITING, work.organization_id, seller, book)
    if not waiting:
        return
    kind, document_id = waiting[0]["kind"], waiting[0]["id"]
    if kind == DocumentKind.CREDIT_NOTE:
        await _issue_credit_note(work, await work.lock(CreditNote, document_id))
    else:
        await _issue_invoice(work, account, await work.lock(Invoice, document_id))
    work.enqueue(render_pdf, document_id=document_id)
    if len(waiting) > 1:
        work.enqueue(issue_documents, seller=seller, book=book)


async def _issue_invoice(work: Work, account: Account, invoice: Invoice) -> None:
    number, day = await _next_number(work, invoice, DocumentKind.INVOICE)
    seller = await pricing.seller_on(work, invoice.seller_code, day)
    invoice.rate_pct = await pricing.seller_vat_rate(work, seller, day)
    taxed = pricing.split_vat(Money(invoice.gross_minor, invoice.currency), invoice.rate_pct)
    invoice.net_minor, invoice.vat_minor = taxed.net.minor, taxed.vat.minor
    InvoiceLifecycle.issue(invoice, at=work.now)
    invoice.number, invoice.issue_date, invoice.issued_at = number, day, work.now
    invoice.title, invoice.seller = title_of(seller), seller_shown(seller)
    invoice.recipient = _recipient(account, invoice)
    invoice.order_number = account.order_number
    # The time of supply is the payment or the document, whichever is earlier.
    invoice.supply_date = min(day, local_day(invoice.released_at or work.now))
    invoice.due_date = await _due_date(work, account, invoice, day)
    invoice.amount_due_minor = invoice.gross_minor
    invoice.at_issue = await ledger.credit_on_print(work, invoice)
    invoice.next_check_at = due_dates.next_invoice_check(invoice, day)
    lines = await invoice_lines(work, invoice.id)
    for known, net in zip(lines, spread_net(taxed.net, lines), strict=True):
        line = await work.hold(known)
        line.net_minor = net.minor
        await work.save(line)
    await work.save(invoice)
    await ledger.post(
        work,
        ledger.invoice_booking(net=taxed.net, vat=taxed.vat),
        book=invoice.book,
        source=EntrySource("invoice", invoice.id, f"invoice:{invoice.id}"),
        occurred_at=work.now,
    )
    due = await ledger.pay_from_credit(work, invoice)
    if due and due_dates.overdue_at(invoice) is None:
        # Expected credit is gone: check whether anything collects the amount due.
        invoice.next_check_at = work.now
        await work.save(invoice)
    _publish_issued(work, invoice, number, due)
    if due:
        customer.notify(work, customer.INVOICE_ISSUED, invoice.id)


def _publish_issued(work: Work, invoice: Invoice, number: str, due: Money) -> None:
    assert invoice.due_date is not None  # noqa: S101  # set at the issue
    work.publish(
        public.InvoiceIssued(
            organization_id=invoice.organization_id,
            invoice_id=invoice.id,
            number=number,
            gross=Money(invoice.gross_minor, invoice.currency),
            amount_due=due,
            due_date=invoice.due_date,
        )
    )


async def is_blocked(read: Reader, seller_code: str, book: Book) -> bool:
    """Whether documents of a seller wait: those of the live book in production, while the seller
    is the sample (BIL-56)."""
    if book is not Book.LIVE or not read.host.settings.production:
        return False
    seller = await pricing.seller_on(read, seller_code, local_day(read.now))
    return pricing.is_sample_vat_number(seller.vat_number)


async def blocked_sellers(read: Reader) -> list[str]:
    """The sellers whose documents of the live book wait."""
    today = local_day(read.now)
    known = await read.values(
        select(Seller.seller_code).where(Seller.effective_from <= today).distinct()
    )
    return [code for code in known if await is_blocked(read, code, Book.LIVE)]


async def check_seller(read: Reader, seller_code: str, book: Book) -> None:
    """Refuse to collect money for a seller whose documents wait (BIL-56)."""
    if await is_blocked(read, seller_code, book):
        raise SellerNotSet()


async def issue_blocker(read: Reader, invoice: Invoice) -> str | None:
    """The code of the problem that keeps a released invoice from its number (BIL-56)."""
    if invoice.released_at is None or invoice.number is not None:
        return None
    blocked = await is_blocked(read, invoice.seller_code, invoice.book)
    return SellerNotSet.code if blocked else None


async def _issue_credit_note(work: Work, note: CreditNote) -> None:
    invoice = await work.lock(Invoice, note.invoice_id)
    number, day = await _next_number(work, note, DocumentKind.CREDIT_NOTE)
    seller = await pricing.seller_on(work, note.seller_code, day)
    gross = Money(note.gross_minor, note.currency)
    before = Money(invoice.amount_credited_minor, note.currency)
    taxed = pricing.split_credit_vat(gross, before=before, rate_pct=invoice.rate_pct)
    note.rate_pct = invoice.rate_pct
    note.net_minor, note.vat_minor = taxed.net.minor, taxed.vat.minor
    CreditNoteLifecycle.issue(note, at=work.now)
    note.number, note.issue_date, note.issued_at = number, day, work.now
    note.seller, note.recipient = seller_shown(seller), invoice.recipient
    note.invoice_number, note.invoice_date = invoice.number, invoice.issue_date
    await work.save(note)
    unearned = await _reduce_line_nets(work, note, taxed.net)
    await ledger.post(
        work,
        ledger.credit_note_booking(unearned=unearned, earned=taxed.net - unearned, vat=taxed.vat),
        book=note.book,
        source=EntrySource("credit_note", note.id, f"credit_note:{note.id}"),
        occurred_at=work.now,
    )
    await ledger.apply_credit_note(work, invoice, gross)
    if not invoice.amount_due_minor:
        await access.recheck_invoice(work, invoice.id)
    work.publish(
        public.CreditNoteIssued(
            organization_id=note.organization_id,
            credit_note_id=note.id,
            number=number,
            invoice_id=invoice.id,
            gross=gross,
        )
    )


async def _reduce_line_nets(work: Work, note: CreditNote, net: Money) -> Money:
    """Deduct a note's net from the lines, deferred revenue first, and return the deferred part."""
    lines = await invoice_lines(work, note.invoice_id)
    credited: dict[UUID, int] = {}
    for line in await credit_note_lines(work, note.id):
        credited[line.invoice_line_id] = credited.get(line.invoice_line_id, 0) + line.gross_minor
    # Computed once before any change, because each share depends on what all lines had left.
    borne = spread_credit(net, credited, lines)
    unearned = 0
    for known in lines:
        if borne[known.id]:
            unearned += await _reduce_line_net(work, known, borne[known.id])
    return Money(unearned, net.currency)


async def _reduce_line_net(work: Work, known: InvoiceLine, borne: int) -> int:
    line = await work.hold(known)
    deferred = (line.net_minor or 0) - line.credited_net_minor - line.earned_minor
    unearned = min(borne, deferred)
    line.credited_net_minor += borne
    line.earned_minor -= borne - unearned
    await work.save(line)
    return unearned


async def _next_number(
    work: Work, document: Invoice | CreditNote, kind: DocumentKind
) -> tuple[str, date]:
    """The next number and its date, locked until the commit."""
    holder = document.organization_id if document.book is Book.SANDBOX else OPERATOR
    key: dict[str, Any] = {
        "seller_code": document.seller_code,
        "document_kind": kind.value,
        "book": document.book.value,
        "holder_id": holder,
    }
    await work.run(_BEGIN, new_id(), work.now, *key.values())
    series = await work.lock_by(DocumentSeries, **key)
    day = max(local_day(work.now), series.last_date or date.min)
    number = f"{_PREFIX[kind]}-{series.next_number:07d}"
    series.next_number, series.last_date = series.next_number + 1, day
    await work.save(series)
    return (f"SBX-{number}" if document.book is Book.SANDBOX else number), day


_PRINTED = ("legal_name", "trading_name", "registration_number", "vat_number")
_CAMEL = {
    "postalCode": "postal_code",
    "bankName": "bank_name",
    "accountName": "account_name",
    "accountNumber": "account_number",
    "branchCode": "branch_code",
}


def seller_shown(seller: Seller) -> dict[str, Any]:
    """The seller as a document stores it, with the same field names as the recipient."""
    parts = {"address": seller.address, "bank": seller.bank}
    return {name: getattr(seller, name) for name in _PRINTED} | {
        name: {_CAMEL.get(key, key): value for key, value in part.items()}
        for name, part in parts.items()
    }


def _recipient(account: Account, invoice: Invoice) -> dict[str, Any]:
    """The account's current recipient, or the drafted one if required data was removed since."""
    try:
        return recipient_of(account, Money(invoice.gross_minor, invoice.currency))
    except TaxDataMissing:
        return invoice.recipient


async def send_invoice(work: Work, invoice: Invoice) -> None:
    """Send an invoice instead of charging it. Its due date counts from the day of its issue."""
    held = await work.hold(invoice)
    held.due_date = await _due_after(work, local_day(work.now))
    await work.save(held)


async def _due_date(work: Work, account: Account, invoice: Invoice, day: date) -> date:
    sent = account.collection_method is CollectionMethod.SEND_INVOICE or invoice.due_date
    return await _due_after(work, day) if sent else day


async def _due_after(work: Work, day: date) -> date:
    days = await configuration.value(work, settings.INVOICE_DUE_DAYS)
    return day + timedelta(days=days)
