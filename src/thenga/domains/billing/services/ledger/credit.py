"""Credit pays invoices: every payment becomes credit first, and invoices use it.

The account is locked, so the same credit never pays two invoices.
"""

from datetime import datetime

from sqlalchemy import BigInteger, Text, and_, bindparam, case, func, select

from thenga.domains.billing.lifecycles import InvoiceLifecycle
from thenga.domains.billing.services import customer
from thenga.domains.billing.services.ledger import collection_status, journal
from thenga.domains.billing.services.ledger.journal import Booking, EntrySource
from thenga.domains.billing.tables import (
    Account,
    CreditNote,
    CreditNoteStatus,
    Invoice,
    InvoiceStatus,
    Payment,
    Purpose,
    Refund,
    RefundStatus,
    Subscription,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.money import Money

_OWED = (InvoiceStatus.OPEN, InvoiceStatus.UNCOLLECTIBLE)
# An unpaid change uses its own credit note first, which does not exist yet.
_OWN_NOTE = (
    select(Subscription.pending_change["creditMinor"].astext.cast(BigInteger))
    .where(
        Subscription.organization_id == Invoice.organization_id,
        Subscription.id == Invoice.subscription_id,
        Subscription.pending_change["invoiceId"].astext == Invoice.id.cast(Text),
    )
    .scalar_subquery()
)
_OF_THE_ACCOUNT = case(
    (
        Invoice.purpose == Purpose.CHANGE,
        func.greatest(Invoice.planned_credit_minor - func.coalesce(_OWN_NOTE, 0), 0),
    ),
    else_=Invoice.planned_credit_minor,
)
_COUNTED_ON = case((Invoice.released_at.is_not(None), Invoice.gross_minor), else_=_OF_THE_ACCOUNT)
_TAKEN = select(func.coalesce(func.sum(_COUNTED_ON), 0)).where(
    Invoice.organization_id == bindparam("organization_id"),
    Invoice.status == InvoiceStatus.DRAFT,
    Invoice.currency == bindparam("currency"),
)
_BROUGHT = select(func.coalesce(func.sum(CreditNote.gross_minor), 0)).where(
    CreditNote.organization_id == bindparam("organization_id"),
    CreditNote.status == CreditNoteStatus.DRAFT,
    CreditNote.released_at.is_not(None),
    CreditNote.currency == bindparam("currency"),
)
# Other pending documents have their own payments, and reserve present and expected credit.
_WITH_MONEY = case(
    (
        Invoice.released_at.is_not(None),
        func.least(Invoice.received_minor + Invoice.planned_credit_minor, Invoice.gross_minor),
    ),
    else_=_OF_THE_ACCOUNT,
)
_KEPT = select(func.coalesce(func.sum(_WITH_MONEY), 0)).where(
    Invoice.organization_id == bindparam("organization_id"),
    Invoice.status == InvoiceStatus.DRAFT,
    Invoice.currency == bindparam("currency"),
    Invoice.id != bindparam("invoice_id"),
)

_WENT_BACK = select(func.coalesce(func.sum(Payment.refunded_minor), 0)).where(
    Payment.organization_id == bindparam("organization_id"),
    Payment.invoice_id == bindparam("invoice_id"),
)
# Requested refunds, which are booked only after the provider confirms them.
_PROMISED = (
    select(func.coalesce(func.sum(Refund.amount_minor), 0))
    .join(
        Payment,
        and_(Payment.organization_id == Refund.organization_id, Payment.id == Refund.payment_id),
    )
    .where(
        Refund.organization_id == bindparam("organization_id"),
        Refund.currency == bindparam("currency"),
        Refund.status != RefundStatus.SUCCEEDED,
        Refund.status != RefundStatus.FAILED,
    )
)
_PROMISED_OF_OTHERS = _PROMISED.where(Payment.invoice_id != bindparam("invoice_id"))


async def pay_from_credit(work: Work, invoice: Invoice, *, paid: Money | None = None) -> Money:
    """Pay an issued invoice from the account's credit, and return what is still due.

    `paid` is money just received for this invoice, as opposed to other credit.
    """
    await work.hold(invoice)
    if paid is not None:
        invoice.received_minor += paid.minor
    due = Money(invoice.amount_due_minor, invoice.currency)
    if invoice.status not in _OWED:
        await work.save(invoice)
        return due
    await customer.lock_account(work)
    spent = Money(await _spent(work, invoice), invoice.currency)
    if invoice.status is InvoiceStatus.UNCOLLECTIBLE:
        if spent < due:
            await work.save(invoice)
            return due  # a partial payment does not reopen it; it stays as credit
        await _book(work, invoice, journal.write_off(-due), "recovered")
    await _allocate(work, invoice, spent)
    return due - spent


async def free_credit(read: Reader, *, currency: str) -> Money:
    """The account's credit less what pending documents and refunds will use.

    Two concurrent renewals must not use the same credit. A released invoice reserves its full
    amount and a released credit note adds its amount. An unpaid change uses its own credit note
    first, and the account's credit only for the remainder.
    """
    balance = await journal.credit_balance(read, currency=currency)
    here = {"organization_id": read.organization_id, "currency": currency}
    taken = await read.value(_TAKEN, **here)
    brought = await read.value(_BROUGHT, **here)
    promised = await read.value(_PROMISED, **here)
    free = balance.minor + int(brought or 0) - int(taken or 0) - int(promised or 0)
    return Money(max(free, 0), currency)


async def credit_on_print(read: Reader, invoice: Invoice) -> dict[str, int]:
    """What credit pays of an invoice at issue, in cents, as its PDF shows it."""
    spent = await _spent(read, invoice)
    paid = _money_in(invoice, spent)
    due = invoice.amount_due_minor - spent
    return {"credit_applied": spent - paid, "amount_paid": paid, "amount_due": due}


async def _spent(read: Reader, invoice: Invoice) -> int:
    """How much of the amount due the account's credit pays.

    Credit that other pending documents received or reserve is theirs: money paid for one invoice
    never pays another (BIL-33). Refunds of this invoice's own payments do not count; otherwise the
    amount due would depend on whether a refund was reported before the allocation (BIL-31).
    """
    here = {"organization_id": read.organization_id}
    credit = await journal.credit_balance(read, currency=invoice.currency)
    went_back = await read.value(_WENT_BACK, **here, invoice_id=invoice.id)
    there = credit.minor + int(went_back or 0)
    brought = await read.value(_BROUGHT, **here, currency=invoice.currency)
    kept = await read.value(_KEPT, **here, currency=invoice.currency, invoice_id=invoice.id)
    own = max(invoice.received_minor - invoice.amount_paid_minor, 0)
    promised = await read.value(
        _PROMISED_OF_OTHERS, **here, currency=invoice.currency, invoice_id=invoice.id
    )
    # Money received for this invoice pays it, whatever is reserved.
    there -= min(int(promised or 0), max(there - own, 0))
    free = max(there + min(int(brought or 0) - int(kept or 0), 0), own)
    return min(max(min(free, there), 0), invoice.amount_due_minor)


def _money_in(invoice: Invoice, spent: int) -> int:
    """How much of the spent credit is money received for this invoice."""
    return min(spent, max(invoice.received_minor - invoice.amount_paid_minor, 0))


async def _allocate(work: Work, invoice: Invoice, spent: Money) -> None:
    if spent:
        await _book(work, invoice, journal.allocation(spent), "allocation")
    money = _money_in(invoice, spent.minor)
    invoice.amount_paid_minor += money
    invoice.credit_applied_minor += spent.minor - money
    invoice.amount_due_minor -= spent.minor
    if invoice.amount_due_minor == 0:
        _close(invoice, work.now)
    await work.save(invoice)
    await collection_status.refresh_collection_status(work, invoice)


async def apply_credit_note(work: Work, invoice: Invoice, note: Money) -> None:
    """Reduce the amount due by a booked credit note.

    This also applies to a written-off invoice: what was never paid gives no credit (BIL-27).
    """
    await work.hold(invoice)
    invoice.amount_credited_minor += note.minor
    spent = Money(min(note.minor, invoice.amount_due_minor), invoice.currency)
    if invoice.status not in _OWED or not spent:
        await work.save(invoice)
        return
    if invoice.status is InvoiceStatus.UNCOLLECTIBLE:
        await _book(work, invoice, journal.write_off(-spent), "recovered")
    await _book(work, invoice, journal.allocation(spent), "allocation")
    invoice.amount_due_minor -= spent.minor
    if invoice.amount_due_minor == 0:
        _close(invoice, work.now)
    await work.save(invoice)
    await collection_status.refresh_collection_status(work, invoice)


def _close(invoice: Invoice, at: datetime) -> None:
    """Nothing is due: paid if any money or credit was used, otherwise credited."""
    if not invoice.amount_paid_minor + invoice.credit_applied_minor:
        InvoiceLifecycle.credit(invoice, at=at)
    elif invoice.status is InvoiceStatus.UNCOLLECTIBLE:
        InvoiceLifecycle.reopen(invoice, at=at)
    else:
        InvoiceLifecycle.settle(invoice, at=at)


async def write_off_rest(work: Work, invoice: Invoice) -> bool:
    """Write off the amount due, and return whether this was the first time."""
    await work.hold(invoice)
    if not InvoiceLifecycle.write_off(invoice, at=work.now):
        return False
    due = Money(invoice.amount_due_minor, invoice.currency)
    await _book(work, invoice, journal.write_off(due), "write_off")
    await work.save(invoice)
    return True


async def _book(work: Work, invoice: Invoice, booking: Booking, what: str) -> None:
    # Each step is saved, so the version distinguishes the bookings of an invoice.
    key = f"{what}:{invoice.id}:{invoice.version}"
    source = EntrySource("invoice", invoice.id, key)
    await journal.post(work, booking, book=invoice.book, source=source, occurred_at=work.now)


async def credit_for(read: Reader, account: Account, gross: Money) -> Money:
    """How much of an amount the account's credit pays."""
    return min(await free_credit(read, currency=account.currency), gross)
