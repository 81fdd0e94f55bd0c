"""Disputes: money that a cardholder reclaims, until the dispute is decided (BIL-31, BIL-47)."""

from typing import Literal

from thenga.domains.billing import public
from thenga.domains.billing.services import ledger
from thenga.domains.billing.services.ledger import Booking, EntrySource
from thenga.domains.billing.services.payments import (
    ReportOutcome,
    ReportSource,
    quarantine,
    record_report,
)
from thenga.domains.billing.services.settlement import effects
from thenga.domains.billing.tables import (
    Book,
    DisputeStatus,
    Invoice,
    Payment,
    StatementOutcome,
)
from thenga.domains.billing.values.provider import (
    ProviderReport,
    StatedStatus,
)
from thenga.kernel.db.work import Work
from thenga.kernel.values.money import Money

_RANK = {DisputeStatus.NONE: 0, DisputeStatus.OPEN: 1, DisputeStatus.WON: 2, DisputeStatus.LOST: 3}
_STATED: dict[StatedStatus, Literal["open", "won", "lost"]] = {
    StatedStatus.OPEN: "open",
    StatedStatus.WON: "won",
    StatedStatus.LOST: "lost",
}


async def apply_dispute_report(
    work: Work, payment: Payment, book: Book, report: ProviderReport, source: ReportSource
) -> ReportOutcome:
    """Apply a report. The highest reported status of each dispute counts, in any order."""
    if not 0 <= (report.amount_minor or 0) <= payment.amount_minor:
        return await quarantine(work, payment, report, source, "amount_differs")
    number = report.item_reference or report.provider_reference or payment.reference
    before = DisputeStatus(payment.disputes.get(number, DisputeStatus.NONE))
    stated = _STATED[report.status]
    corrected = await _correct(work, payment, book, number, report)
    if _RANK[DisputeStatus(stated)] <= _RANK[before]:
        await work.save(payment)
        outcome = StatementOutcome.APPLIED if corrected else StatementOutcome.STALE
        return await record_report(work, payment, report, source, outcome)
    payment.disputes = payment.disputes | {number: stated}
    payment.dispute_status = _of_all(payment)
    await work.save(payment)
    amount = _amount(payment, number)
    for step, booking in _bookings(payment.provider, amount, before, DisputeStatus(stated)):
        await _post(work, payment, book, f"{number}:{step}", booking)
    recorded = await record_report(work, payment, report, source, StatementOutcome.APPLIED)
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
    await effects.disputed(work, payment)
    await ledger.refresh_collection_status(work, await work.lock(Invoice, payment.invoice_id))
    return recorded


async def _correct(
    work: Work, payment: Payment, book: Book, number: str, report: ProviderReport
) -> bool:
    """Update the disputed amount from the highest-ranked report that states one, and correct
    earlier bookings so that nothing stays withheld."""
    if not report.amount_minor:
        return False
    said = [_RANK[DisputeStatus(_STATED[report.status])], report.amount_minor]
    if said <= payment.dispute_amounts.get(number, []):
        return False
    before, status = (
        _amount(payment, number),
        DisputeStatus(payment.disputes.get(number, DisputeStatus.NONE)),
    )
    payment.dispute_amounts = payment.dispute_amounts | {number: said}
    more = _amount(payment, number) - before
    if more.minor and status is not DisputeStatus.NONE:
        for step, booking in _bookings(payment.provider, more, DisputeStatus.NONE, status):
            key = f"{number}:{step}:{said[0]}-{said[1]}"
            await _post(work, payment, book, key, booking)
    return True


def _amount(payment: Payment, number: str) -> Money:
    said = payment.dispute_amounts.get(number)
    return Money(payment.amount_minor if said is None else said[1], payment.currency)


async def _post(work: Work, payment: Payment, book: Book, key: str, booking: Booking) -> None:
    source = EntrySource("payment", payment.id, f"dispute:{payment.id}:{key}")
    await ledger.post(work, booking, book=book, source=source, occurred_at=work.now)


def _of_all(payment: Payment) -> DisputeStatus:
    """The status over all disputes: lost first, then open, then won."""
    held = set(payment.disputes.values())
    return next(
        status
        for status in (DisputeStatus.LOST, DisputeStatus.OPEN, DisputeStatus.WON)
        if status.value in held
    )


def _bookings(
    provider: str, amount: Money, before: DisputeStatus, now: DisputeStatus
) -> list[tuple[str, Booking]]:
    """The bookings from one status to another, including skipped steps."""
    steps: list[tuple[str, Booking]] = []
    if before is DisputeStatus.NONE:
        steps.append(("opened", ledger.dispute_opened_booking(provider, amount)))
    if before is DisputeStatus.WON:
        steps.append(("reopened", ledger.dispute_opened_booking(provider, amount)))
    if now is DisputeStatus.WON:
        steps.append(("won", ledger.dispute_won_booking(provider, amount)))
    if now is DisputeStatus.LOST:
        steps.append(("lost", ledger.dispute_lost_booking(amount)))
    return steps
