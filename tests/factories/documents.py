"""Invoices and credit notes, made by the services that make them."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from tests.factories import billing
from thenga.domains.billing.services.invoicing import credit_notes, invoices, issuing
from thenga.domains.billing.services.invoicing.invoices import DraftLine
from thenga.domains.billing.services.invoicing.lines import invoice_lines
from thenga.domains.billing.services.ledger import credit, journal
from thenga.domains.billing.services.ledger.journal import EntrySource
from thenga.domains.billing.services.pricing.periods import Period
from thenga.domains.billing.services.printing import pdf_archive
from thenga.domains.billing.tables import (
    Account,
    AccountStatus,
    Book,
    CreditNote,
    CreditReason,
    Invoice,
    InvoiceLine,
    LineKind,
    Purpose,
    Seller,
)
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

ADDRESS = {
    "line1": "12 Industria Road",
    "city": "Roodepoort",
    "province": "Gauteng",
    "postal_code": "1709",
    "country": "ZA",
}
BILL_TO = {
    "legal_name": "Mokoena Plant Hire (Pty) Ltd",
    "vat_number": "4123456789",
    "registration_number": "2019/123456/07",
    "address": ADDRESS,
}
FIFTEEN = Decimal(15)
NOVEMBER = Period(date(2026, 11, 14), date(2026, 12, 14))


def system(host: Host, organization_id: UUID | None, *, ahead: timedelta = timedelta(0)) -> Work:
    """A work of the system login, as the numbering job has it."""
    scope = billing.working(host, organization_id, ahead=ahead)._scope
    return Work(host, "billing", scope, Origin("test", "test", "test"), login="billing_system")


def line(gross: str = "499.00", **given: Any) -> DraftLine:
    """A month of a plan, unless said otherwise."""
    subscription = given.get("subscription_id") or uuid4()
    known: dict[str, Any] = {
        "kind": LineKind.RECURRING,
        "description": "Starter, month",
        "quantity": 1,
        "unit_price": Money.of(gross),
        "gross": Money.of(gross),
        "service": NOVEMBER,
        "subscription_id": subscription,
        "plan_code": "starter",
        "plan_version": 1,
        "key": f"recurring:{subscription}:{uuid4()}",
    }
    return DraftLine(**known | given)


async def seller(host: Host, code: str | None = None, **given: Any) -> str:
    """Another seller, whose series are only the test's own; or a later one of its code."""
    code = code or f"seller-{uuid4().hex[:8]}"
    work = system(host, None)
    known = await work.find(Seller, seller_code="thenga")
    assert known is not None
    names = ("effective_from", "legal_name", "trading_name", "address", "bank", "vat_number")
    values = {name: known.__dict__[name] for name in names}
    await work.add(Seller(seller_code=code, **values | given))
    await work.finish()
    return code


async def account(host: Host, organization_id: UUID, book: Book = Book.LIVE) -> Account:
    """An account with all that a tax invoice asks for."""
    return await billing.account(host, organization_id, again=True, book=book, bill_to=BILL_TO)


async def draft(
    host: Host,
    organization_id: UUID,
    *lines: DraftLine,
    book: Book = Book.LIVE,
    purpose: Purpose = Purpose.FIRST,
    released: bool = False,
    by_worker: bool = False,
    ahead: timedelta = timedelta(0),
    **given: Any,
) -> Invoice:
    """A draft; `released` where it waits for its number, which a test gives unless `by_worker`."""
    await account(host, organization_id, book)
    work = billing.working(host, organization_id, ahead=ahead)
    try:
        held = await work.lock_by(Account)
        if held.bill_to is None:  # a sweep has emptied it
            held.bill_to, held.status = BILL_TO, AccountStatus.ACTIVE
            await work.save(held)
        chosen = lines or (line(),)
        given = {"subscription_id": chosen[0].subscription_id} | given
        made = await invoices.draft_invoice(work, held, purpose=purpose, lines=chosen, **given)
        if released:
            await invoices.release_invoice(work, made)
        await _finish(work, by_worker=by_worker)
        return made
    finally:
        await work.close()


async def _finish(work: Work, *, by_worker: bool = False) -> None:
    """Commit; jobs that a factory does itself are not left to the worker of a later test."""
    if not by_worker:
        work._jobs.clear()
    await work.finish()


async def pay(host: Host, organization_id: UUID, amount: str, *, book: Book = Book.LIVE) -> None:
    """Money of the organization, as credit."""
    await billing.entry(
        host, organization_id, journal.payment_booking("paystack", Money.of(amount)), book=book
    )


async def issued(
    host: Host,
    organization_id: UUID,
    *lines: DraftLine,
    paid: bool = False,
    ahead: timedelta = timedelta(0),
    **given: Any,
) -> Invoice:
    """An invoice with its number; `paid` where its money was there."""
    made = await draft(host, organization_id, *lines, ahead=ahead, **given)
    work = billing.working(host, organization_id, ahead=ahead)
    held = await work.lock(Invoice, made.id)
    money = Money(held.amount_due_minor, held.currency)
    if paid:
        source = EntrySource("payment", uuid4(), f"payment:{made.id}")
        booking = journal.payment_booking("paystack", money)
        await journal.post(work, booking, book=held.book, source=source, occurred_at=work.now)
    await invoices.release_invoice(work, held, paid=money if paid else None)
    await _finish(work)
    await number_all(host, organization_id, ahead=ahead)
    return await get(host, Invoice, organization_id, made.id)


async def number_all(
    host: Host,
    organization_id: UUID,
    *,
    seller: str = "thenga",
    ahead: timedelta = timedelta(0),
) -> list[Any]:
    """What the numbering job does until nothing waits; the events it told."""
    told: list[Any] = []
    for _ in range(100):
        work = system(host, organization_id, ahead=ahead)
        held = await work.find(Account)
        assert held is not None
        await issuing.issue_next(work, seller=seller, book=held.book)
        told += [event for event, *_ in work._events]
        more = bool(work._events)
        await _finish(work)
        if not more:
            return told
    raise AssertionError("the documents do not come to an end")


async def print_all(host: Host, organization_id: UUID, *ids: UUID) -> None:
    """What the job of prints does."""
    for document_id in ids:
        work = billing.working(host, organization_id)
        try:
            order = await pdf_archive.sheets_to_print(work, document_id)
            if order is not None:
                made = {
                    one: pdf_archive.typeset(sheet, made_at=order.made_at)
                    for one, sheet in order.sheets.items()
                }
                await pdf_archive.store_pdfs(work, document_id, made)
            await work.finish()
        finally:
            await work.close()


async def credited(
    host: Host,
    invoice: Invoice,
    *amounts: str,
    cut_span_at: date | None = None,
    ahead: timedelta = timedelta(0),
) -> list[CreditNote]:
    """Credit notes on the first line of an invoice, one after the other, each issued."""
    made = []
    for amount in amounts:
        work = billing.working(host, invoice.organization_id, ahead=ahead)
        held = await work.lock(Invoice, invoice.id)
        first = (await invoice_lines(work, invoice.id))[0]
        note = await credit_notes.draft_credit_note(
            work,
            held,
            credited=[(first.id, Money.of(amount))],
            reason_code=CreditReason.GOODWILL,
            explanation="As agreed on the telephone",
        )
        await credit_notes.release_credit_note(work, note, cut_span_at=cut_span_at)
        await _finish(work)
        await number_all(host, invoice.organization_id, ahead=ahead)
        made.append(await get(host, CreditNote, invoice.organization_id, note.id))
    return made


async def lines(host: Host, invoice: Invoice) -> Sequence[InvoiceLine]:
    work = billing.working(host, invoice.organization_id)
    found = await invoice_lines(work, invoice.id)
    await work.close()
    return found


async def get(host: Host, row: type[Any], organization_id: UUID, row_id: UUID) -> Any:
    """A row as it stands now."""
    work = billing.working(host, organization_id)
    found = await work.get(row, row_id)
    await work.close()
    return found


async def discarded(host: Host, organization_id: UUID) -> Invoice:
    made = await draft(host, organization_id)
    work = billing.working(host, organization_id)
    await invoices.discard_draft(work, await work.lock(Invoice, made.id))
    await work.finish()
    return made


async def written_off(host: Host, organization_id: UUID) -> Invoice:
    made = await issued(host, organization_id)
    work = billing.working(host, organization_id)
    await credit.write_off_rest(work, await work.lock(Invoice, made.id))
    await work.finish()
    return made


async def wholly_credited(host: Host, organization_id: UUID) -> Invoice:
    made = await issued(host, organization_id)
    await credited(host, made, "499.00")
    return made
