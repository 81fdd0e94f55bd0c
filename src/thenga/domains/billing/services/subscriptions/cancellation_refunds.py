"""What an immediate cancellation credits or refunds (BIL-8)."""

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
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_BEGINS = (Purpose.FIRST, Purpose.CONVERSION)
_OF_DAYS = (LineKind.RECURRING, LineKind.PRORATION)
_A_DAY = timedelta(days=1)
_SOON = timedelta(seconds=10)  # after the credit note has its number
_WHY = "Subscription cancelled"


@dataclass(frozen=True, slots=True)
class CreditedPart:
    """The amount to credit of one line, and the day its billed days end."""

    invoice_id: UUID
    line_id: UUID
    amount: Money
    from_day: date


@dataclass(frozen=True, slots=True)
class CancellationCredit:
    """What was credited, and how it is settled."""

    amount: Money
    credit_note_ids: list[UUID]
    settlement: Settlement


async def credit_unused_time(
    work: Work, subscription: Subscription, wanted: Settlement | None
) -> CancellationCredit | None:
    """Credit the days after this one, or everything in the first days, and refund it."""
    whole = await _is_in_refund_window(work, subscription)
    found = await (_all_of(work, subscription) if whole else _unused(work, subscription))
    parts = [part for part in found if await _is_refundable(work, part)]
    if not parts:
        return None
    notes = [await _credit(work, part) for part in parts]
    total = Money(sum(part.amount.minor for part in parts), parts[0].amount.currency)
    usual = Settlement.REFUND if whole else Settlement.CREDIT
    return CancellationCredit(total, [note.id for note in notes], wanted or usual)


async def _is_refundable(read: Reader, part: CreditedPart) -> bool:
    """Whether its invoice can be credited: not written off, and not reversed by a dispute."""
    attempts = await payments.payments_of_invoice(read, part.invoice_id)
    paid = [payment for payment in attempts if payment.status is PaymentStatus.SUCCEEDED]
    if any(payments.is_reversed(payment) for payment in paid):
        return False
    return invoicing.is_creditable(await read.get(Invoice, part.invoice_id))


async def _is_in_refund_window(read: Reader, subscription: Subscription) -> bool:
    """Whether the first payment is recent enough for a full refund.

    The first invoice is released when it is paid (BIL-15), so its time is that of the payment.
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


async def _all_of(read: Reader, subscription: Subscription) -> list[CreditedPart]:
    """All billed lines, as far as they are not credited."""
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
            parts.append(CreditedPart(invoice.id, line.id, left, line.service_from))
    return parts


async def _unused(read: Reader, subscription: Subscription) -> list[CreditedPart]:
    """The days after this one, or those banked by a pause. Today counts as used."""
    used = subscription.paused_on or local_day(read.now)
    running = await invoicing.running_line(read, subscription.id, used)
    if running is None:
        return []
    amount = pricing.unused_after(RunningLine(running.gross, running.span), used)
    return (
        [CreditedPart(running.invoice_id, running.line_id, amount, used + _A_DAY)] if amount else []
    )


async def _credit(work: Work, part: CreditedPart) -> CreditNote:
    note = await invoicing.draft_credit_note(
        work,
        await work.get(Invoice, part.invoice_id),
        credited=[(part.line_id, part.amount)],
        reason_code=CreditReason.CANCELLATION,
        explanation=_WHY,
    )
    await invoicing.release_credit_note(work, note, cut_span_at=part.from_day)
    return note


async def record_credit(work: Work, cancellation: Cancellation, given: CancellationCredit) -> None:
    """Record on the cancellation what was credited. Refunds follow once the note is issued."""
    cancellation.credited_minor = given.amount.minor
    cancellation.currency = given.amount.currency
    cancellation.credit_note_ids = given.credit_note_ids
    cancellation.settlement = given.settlement
    if given.settlement is Settlement.REFUND:
        cancellation.next_check_at = work.now + _SOON
    await work.save(cancellation)


async def refund_cancellation(work: Work, cancellation_id: UUID) -> None:
    """Refund the issued credit notes through the provider. What cannot be refunded stays as
    credit."""
    await customer.lock_account(work)  # first in the lock order; credit is spent here
    cancellation = await work.lock(Cancellation, cancellation_id)
    if cancellation.next_check_at is None or work.now < cancellation.next_check_at:
        return
    if not await _are_issued(work, cancellation.credit_note_ids):
        cancellation.next_check_at = work.now + _SOON
        await work.save(cancellation)
        return
    # Credit that an open invoice used cannot be refunded.
    credit = await ledger.credit_balance(work, currency=cancellation.currency)
    left = min(Money(cancellation.credited_minor, cancellation.currency), credit)
    sent = []
    for payment in await _payments(work, cancellation.subscription_id):
        amount = min(left, Money(payment.amount_minor - payment.refunded_minor, left.currency))
        if amount.minor > 0 and payment.provider != EFT and not payments.is_reversed(payment):
            try:
                refund = await payments.request_refund(work, payment.id, amount=amount, reason=_WHY)
            except CreditExceeds:
                continue  # an operator refunded it first; the remainder stays as credit
            sent.append(refund.id)
            left = left - amount
    cancellation.refund_ids, cancellation.next_check_at = sent, None
    await work.save(cancellation)


async def _are_issued(read: Reader, note_ids: Iterable[UUID]) -> bool:
    notes = [await read.get(CreditNote, note_id) for note_id in note_ids]
    return all(note.status is CreditNoteStatus.ISSUED for note in notes)


async def _payments(read: Reader, subscription_id: UUID) -> list[Payment]:
    """The payments of the subscription, newest first."""
    statement = select(Payment).where(
        Payment.subscription_id == subscription_id, Payment.status == PaymentStatus.SUCCEEDED
    )
    return await read.all(statement.order_by(Payment.id.desc()), limit=100)
