"""What an immediate cancellation gives back: as a credit note, and through the provider (BIL-8)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import settings
from thenga.domains.billing.services import (
    customer,
    invoicing,
    ledger,
    payments,
    pricing,
)
from thenga.domains.billing.services.invoicing import CreditExceeds
from thenga.domains.billing.services.payments import EFT
from thenga.domains.billing.services.pricing import RunningLine
from thenga.domains.billing.tables import (
    Cancellation,
    CreditNote,
    CreditNoteStatus,
    CreditReason,
    Invoice,
    InvoiceLine,
    LineKind,
    Payment,
    PaymentStatus,
    Purpose,
    Settlement,
    Subscription,
)
from thenga.kernel import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_BEGINS = (Purpose.FIRST, Purpose.CONVERSION)
_OF_DAYS = (LineKind.RECURRING, LineKind.PRORATION)
_A_DAY = timedelta(days=1)
_SOON = timedelta(seconds=10)  # the credit note gets its number first
_WHY = "Subscription cancelled"


@dataclass(frozen=True, slots=True)
class Part:
    """Of one line so much, and the day from which it pays for nothing more."""

    invoice_id: UUID
    line_id: UUID
    amount: Money
    from_day: date


@dataclass(frozen=True, slots=True)
class Given:
    """What was given back, and by which way."""

    amount: Money
    credit_note_ids: list[UUID]
    settlement: Settlement


async def credit_unused_time(
    work: Work, subscription: Subscription, wanted: Settlement | None
) -> Given | None:
    """Credit the days after this one; in the first days the whole, and pay it back."""
    whole = await _is_fresh(work, subscription)
    found = await (_all_of(work, subscription) if whole else _unused(work, subscription))
    parts = [part for part in found if await _can_go_back(work, part)]
    if not parts:
        return None
    notes = [await _credit(work, part) for part in parts]
    total = Money(sum(part.amount.minor for part in parts), parts[0].amount.currency)
    usual = Settlement.REFUND if whole else Settlement.CREDIT
    return Given(total, [note.id for note in notes], wanted or usual)


async def _can_go_back(read: Reader, part: Part) -> bool:
    """Whether its invoice can be credited: what was written off was never paid, and what a bank
    has taken back is not given a second time."""
    attempts = await payments.payments_of_invoice(read, part.invoice_id)
    paid = [one for one in attempts if one.status is PaymentStatus.SUCCEEDED]
    if any(payments.is_reversed(one) for one in paid):
        return False
    return invoicing.is_creditable(await read.get(Invoice, part.invoice_id))


async def _is_fresh(read: Reader, subscription: Subscription) -> bool:
    """Whether the first payment is so young that all of it goes back.

    The first invoice is released when its money is there (BIL-15), so its instant is that of the
    payment.
    """
    statement = select(Invoice).where(
        Invoice.subscription_id == subscription.id,
        among(Invoice.purpose, _BEGINS),
        Invoice.released_at.is_not(None),
    )
    found = await read.all(statement.order_by(Invoice.id), limit=1)
    if not found or found[0].released_at is None:
        return False
    policy = await configuration.value(read, settings.CANCELLATION)
    return read.now < pricing.midnight_after_days(found[0].released_at, policy.full_refund_days)


async def _all_of(read: Reader, subscription: Subscription) -> list[Part]:
    """Every line of its days, as far as it was not credited yet."""
    statement = select(InvoiceLine).where(
        InvoiceLine.subscription_id == subscription.id,
        among(InvoiceLine.kind, _OF_DAYS),
        InvoiceLine.gross_minor > InvoiceLine.credited_minor,
    )
    parts = []
    for line in await read.all(statement.order_by(InvoiceLine.id), limit=100):
        invoice = await read.get(Invoice, line.invoice_id)
        if invoice.released_at is not None and line.service_from is not None:
            left = Money(line.gross_minor - line.credited_minor, invoice.currency)
            parts.append(Part(invoice.id, line.id, left, line.service_from))
    return parts


async def _unused(read: Reader, subscription: Subscription) -> list[Part]:
    """The days after this one, or those that wait in a pause; today counts as used."""
    used = subscription.paused_on or local_day(read.now)
    running = await invoicing.running_line(read, subscription.id, used)
    if running is None:
        return []
    amount = pricing.unused_after(RunningLine(running.gross, running.span), used)
    return [Part(running.invoice_id, running.line_id, amount, used + _A_DAY)] if amount else []


async def _credit(work: Work, part: Part) -> CreditNote:
    note = await invoicing.draft_credit_note(
        work,
        await work.get(Invoice, part.invoice_id),
        credited=[(part.line_id, part.amount)],
        reason_code=CreditReason.CANCELLATION,
        explanation=_WHY,
    )
    await invoicing.release_credit_note(work, note, cut_span_at=part.from_day)
    return note


async def keep(work: Work, cancellation: Cancellation, given: Given) -> None:
    """Remember on the cancellation what was given back; money goes once the note is issued."""
    cancellation.credited_minor = given.amount.minor
    cancellation.currency = given.amount.currency
    cancellation.credit_note_ids = given.credit_note_ids
    cancellation.settlement = given.settlement
    if given.settlement is Settlement.REFUND:
        cancellation.next_check_at = work.now + _SOON
    await work.save(cancellation)


async def refund_cancellation(work: Work, cancellation_id: UUID) -> None:
    """Send back through the provider what the credit notes have given; what cannot go is credit."""
    await customer.lock_account(work)  # before all else, as everywhere: credit is spent here
    cancellation = await work.lock(Cancellation, cancellation_id)
    if cancellation.next_check_at is None or work.now < cancellation.next_check_at:
        return
    if not await _are_issued(work, cancellation.credit_note_ids):
        cancellation.next_check_at = work.now + _SOON
        await work.save(cancellation)
        return
    # What an open invoice took of the credit is not there any more.
    credit = await ledger.credit_balance(work, currency=cancellation.currency)
    left = min(Money(cancellation.credited_minor, cancellation.currency), credit)
    sent = []
    for payment in await _payments(work, cancellation.subscription_id):
        amount = min(left, Money(payment.amount_minor - payment.refunded_minor, left.currency))
        if amount.minor > 0 and payment.provider != EFT and not payments.is_reversed(payment):
            try:
                refund = await payments.request_refund(work, payment.id, amount=amount, reason=_WHY)
            except CreditExceeds:
                continue  # an operator was faster; the rest stays as credit
            sent.append(refund.id)
            left = left - amount
    cancellation.refund_ids, cancellation.next_check_at = sent, None
    await work.save(cancellation)


async def _are_issued(read: Reader, note_ids: Iterable[UUID]) -> bool:
    notes = [await read.get(CreditNote, one) for one in note_ids]
    return all(note.status is CreditNoteStatus.ISSUED for note in notes)


async def _payments(read: Reader, subscription_id: UUID) -> list[Payment]:
    """What was paid for it, the newest first."""
    statement = select(Payment).where(
        Payment.subscription_id == subscription_id, Payment.status == PaymentStatus.SUCCEEDED
    )
    return await read.all(statement.order_by(Payment.id.desc()), limit=100)
