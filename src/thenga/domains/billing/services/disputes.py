"""Disputes: money that the holder of a card takes back, until it is decided (BIL-31, BIL-47)."""

from typing import Literal

from thenga.domains.billing import public
from thenga.domains.billing.services import collection, journal, outcomes
from thenga.domains.billing.services.journal import Booking, SourceOf
from thenga.domains.billing.services.taken import Heard, Taken, noted
from thenga.domains.billing.tables import (
    Book,
    DisputeStatus,
    Invoice,
    Payment,
    StatedStatus,
    Statement,
    StatementOutcome,
)
from thenga.kernel.db.work import Work
from thenga.kernel.money import Money

D = DisputeStatus
_RANK = {D.NONE: 0, D.OPEN: 1, D.WON: 2, D.LOST: 3}
_STATED: dict[StatedStatus, Literal["open", "won", "lost"]] = {
    StatedStatus.OPEN: "open",
    StatedStatus.WON: "won",
    StatedStatus.LOST: "lost",
}


async def take(
    work: Work, payment: Payment, book: Book, statement: Statement, heard: Heard
) -> Taken:
    """The highest that was said per dispute counts, whatever came first."""
    number = statement.item_reference or statement.provider_reference or payment.reference
    before = D(payment.disputes.get(number, D.NONE))
    stated = _STATED[statement.status]
    if _RANK[D(stated)] <= _RANK[before]:
        return await noted(work, payment, statement, heard, StatementOutcome.STALE)
    payment.disputes = payment.disputes | {number: stated}
    payment.dispute_status = _of_all(payment)
    await work.save(payment)
    amount = Money(statement.amount_minor or payment.amount_minor, payment.currency)
    for step, booking in _bookings(payment.provider, amount, before, D(stated)):
        key = f"dispute:{payment.id}:{number}:{step}"
        source = SourceOf("payment", payment.id, key)
        await journal.post(work, booking, book=book, source=source, occurred_at=work.now)
    taken = await noted(work, payment, statement, heard, StatementOutcome.APPLIED)
    work.publish(
        public.PaymentDisputed(
            organization_id=payment.organization_id,
            payment_id=payment.id,
            invoice_id=payment.invoice_id,
            subscription_id=payment.subscription_id,
            amount=amount,
            outcome=stated,
        )
    )
    await outcomes.disputed(work, payment)
    await collection.follow(work, await work.lock(Invoice, payment.invoice_id))
    return taken


def _of_all(payment: Payment) -> DisputeStatus:
    """One that was lost weighs most, then one that is open."""
    held = set(payment.disputes.values())
    return next(one for one in (D.LOST, D.OPEN, D.WON) if one.value in held)


def _bookings(
    provider: str, amount: Money, before: DisputeStatus, now: DisputeStatus
) -> list[tuple[str, Booking]]:
    """The steps from one state to another; one that was skipped is booked on the way."""
    steps: list[tuple[str, Booking]] = []
    if before is D.NONE:
        steps.append(("opened", journal.dispute_opened(provider, amount)))
    if before is D.WON:
        steps.append(("reopened", journal.dispute_opened(provider, amount)))
    if now is D.WON:
        steps.append(("won", journal.dispute_won(provider, amount)))
    if now is D.LOST:
        steps.append(("lost", journal.dispute_lost(amount)))
    return steps
