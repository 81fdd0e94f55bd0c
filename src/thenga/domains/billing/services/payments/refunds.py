"""Refunds: credit paid back through the provider that collected it (BIL-31, BIL-47)."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import public
from thenga.domains.billing.lifecycles import RefundLifecycle
from thenga.domains.billing.services import customer, ledger
from thenga.domains.billing.services.invoicing import CreditExceeds
from thenga.domains.billing.services.ledger import EntrySource
from thenga.domains.billing.services.payments import polling, providers
from thenga.domains.billing.services.payments.provider_reports import (
    ReportOutcome,
    ReportSource,
    quarantine,
    record_report,
)
from thenga.domains.billing.tables import (
    Book,
    DisputeStatus,
    Payment,
    PaymentStatus,
    Refund,
    RefundStatus,
    StatementOutcome,
)
from thenga.domains.billing.values.provider import (
    ProviderAnswer,
    ProviderReport,
    RefundOrder,
    StatedStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import Move, not_possible
from thenga.kernel.errors import InvalidTransition, RuleViolated, extensions
from thenga.kernel.values.money import Money

_RANK = {status: rank for rank, status in enumerate(RefundStatus)}
_MOVES: dict[StatedStatus, tuple[RefundStatus, Move]] = {
    StatedStatus.PROCESSING: (RefundStatus.PROCESSING, RefundLifecycle.process),
    StatedStatus.FAILED: (RefundStatus.FAILED, RefundLifecycle.fail),
    StatedStatus.SUCCEEDED: (RefundStatus.SUCCEEDED, RefundLifecycle.succeed),
}

send_refund = job_stub("billing.send_refund", form=Form.OUTSIDE, key="{refund_id}")


class RefundNotPossible(InvalidTransition):
    """This payment cannot be refunded in its current status.

    `disputeStatus` is there if the payment is disputed.
    """

    members = extensions(**InvalidTransition.members, disputeStatus=(str, "Status of the dispute."))


async def request_refund(work: Work, payment_id: UUID, *, amount: Money, reason: str) -> Refund:
    """Request a refund. A job sends it to the provider."""
    account = await customer.lock_account(work)  # the credit is spent here
    payment = await work.lock(Payment, payment_id)
    if payment.status is not PaymentStatus.SUCCEEDED:
        raise not_possible(
            "Only a successful payment can be refunded. Wait until this payment has succeeded.",
            status=payment.status,
            operation="refund",
            allowed=[],
        )
    _check(payment, amount)
    promised = await _promised(work, payment)
    # Credit that a pending document will use cannot be refunded.
    credit = await ledger.free_credit(work, currency=account.currency)
    most = min(payment.amount_minor - promised, credit.minor)
    if amount.currency != payment.currency or amount.minor > most:
        left = Money(max(0, most), payment.currency)
        raise CreditExceeds(f"At most {left} of this payment can be refunded.", left=_shown(left))
    refund = await work.add(
        Refund(
            organization_id=payment.organization_id,
            payment_id=payment.id,
            provider=payment.provider,
            amount_minor=amount.minor,
            currency=amount.currency,
            reason=reason,
        )
    )
    work.enqueue(send_refund, refund_id=refund.id)
    return refund


def is_reversed(payment: Payment) -> bool:
    """Whether a dispute has reversed the payment, or may."""
    return payment.dispute_status in (DisputeStatus.OPEN, DisputeStatus.LOST)


def _check(payment: Payment, amount: Money) -> None:
    if is_reversed(payment):
        raise not_possible(
            "This payment is disputed, so the payer's bank may already return the money. Wait "
            "until the dispute is won, or refund another payment.",
            status=payment.status,
            operation="refund",
            allowed=[],
            kind=RefundNotPossible,
            disputeStatus=payment.dispute_status,
        )
    if payment.provider == providers.EFT:
        raise RuleViolated(
            "A bank transfer cannot be refunded through a provider. Transfer the money back and "
            "ask finance to record it. Until then it stays as credit for future invoices.",
            rule="refund-by-bank",
        )
    if amount.minor <= 0:
        raise RuleViolated("Refund 0.01 or more.", rule="refund-amount")


def _shown(money: Money) -> dict[str, str]:
    return {"amount": money.amount, "currency": money.currency}


async def _promised(read: Reader, payment: Payment) -> int:
    """What was refunded of a payment or will be."""
    found = await _of(read, payment)
    return sum(refund.amount_minor for refund in found if refund.status is not RefundStatus.FAILED)


async def _of(read: Reader, payment: Payment) -> list[Refund]:
    statement = select(Refund).where(Refund.payment_id == payment.id)
    return await read.all(statement.order_by(Refund.id), limit=1000)


async def begin_refund(work: Work, refund_id: UUID) -> RefundOrder | None:
    """The order for the provider, marked as sent before the call. Not every provider detects
    repeats, so after a crash the provider is only polled."""
    refund = await work.lock(Refund, refund_id)
    if refund.status is not RefundStatus.REQUESTED:
        return None
    RefundLifecycle.process(refund, at=work.now)
    _settle_times(work, refund)
    await work.save(refund)
    return await _order(work, refund)


async def refund_query(read: Reader, refund_id: UUID) -> RefundOrder | None:
    """The order to poll. None if the refund is decided or a poll is not due."""
    refund = await read.get(Refund, refund_id)
    when = refund.next_check_at
    due = refund.status is RefundStatus.PROCESSING and when is not None and when <= read.now
    return await _order(read, refund) if due else None


async def _order(read: Reader, refund: Refund) -> RefundOrder:
    payment = await read.get(Payment, refund.payment_id)
    return RefundOrder(
        provider=payment.provider,
        key=str(refund.id),
        reference=payment.reference,
        provider_reference=payment.provider_reference,
        refund_reference=refund.provider_reference,
        amount_minor=refund.amount_minor,
        currency=refund.currency,
        reason=refund.reason,
    )


async def record_refund_answer(
    work: Work, refund_id: UUID, answer: ProviderAnswer, *, source: str
) -> None:
    """Apply the provider's answer. A rejected order has failed; no answer changes nothing
    (BIL-32)."""
    account = await customer.lock_account(work)
    known = await work.get(Refund, refund_id)
    payment = await work.lock(Payment, known.payment_id)
    refund = await work.lock(Refund, refund_id)
    if answer.report is not None:
        if refund.provider_reference is None:
            refund.provider_reference = answer.report.item_reference
            await work.save(refund)
        await _move(work, payment, account.book, refund, answer.report, ReportSource(source))
    elif refund.status is RefundStatus.PROCESSING and _has_failed(refund, answer, work.now):
        RefundLifecycle.fail(refund, at=work.now)
        _settle_times(work, refund)
        await work.save(refund)
    await _schedule_poll(work, payment, refund)


def _has_failed(refund: Refund, answer: ProviderAnswer, now: datetime) -> bool:
    """Whether it was rejected, or is still unknown to the provider after an hour."""
    if answer.fault is not None:
        return True
    spoken_of = refund.provider_reference is not None
    waited = refund.sent_at is not None and now >= refund.sent_at + polling.FAULT_PAUSE
    return answer.unknown_reference and waited and not spoken_of


def _settle_times(work: Work, refund: Refund) -> None:
    if refund.status in RefundLifecycle.FINAL:
        refund.next_check_at = None
        return
    refund.sent_at = refund.sent_at or work.now
    refund.next_check_at = polling.next_poll_at(refund.sent_at, work.now)


async def _schedule_poll(work: Work, payment: Payment, refund: Refund) -> None:
    """Schedule the next poll. After the last one publish a mismatch."""
    when = refund.next_check_at
    if when is None or when > work.now:
        return
    _settle_times(work, refund)
    await work.save(refund)
    if refund.next_check_at is None:
        work.publish(
            public.PaymentMismatchFound(
                organization_id=refund.organization_id,
                source="refund",
                source_id=refund.id,
                provider=refund.provider,
                finding="no_answer",
                payment_id=payment.id,
                expected=refund.amount,
            )
        )


async def apply_refund_report(
    work: Work, payment: Payment, book: Book, report: ProviderReport, source: ReportSource
) -> ReportOutcome:
    """Apply a report about a refund, including one made on the provider's dashboard."""
    refund = await _matching_refund(work, payment, report)
    amount = report.amount_minor
    if refund is None:
        if amount is None or amount <= 0:
            return await quarantine(work, payment, report, source, "amount_differs")
        if amount > payment.amount_minor - await _promised(work, payment):
            return await quarantine(work, payment, report, source, "refund_exceeds")
        refund = await _add_unknown_refund(work, payment, report, amount)
    elif amount not in (None, refund.amount_minor):
        return await quarantine(work, payment, report, source, "amount_differs")
    return await _move(work, payment, book, refund, report, source)


async def _matching_refund(work: Work, payment: Payment, report: ProviderReport) -> Refund | None:
    """The refund a report is about: by its id, otherwise one of the same amount without an id,
    those in progress first."""
    known = await _of(work, payment)
    same = [row for row in known if row.amount_minor == report.amount_minor]
    same.sort(key=lambda row: row.status in RefundLifecycle.FINAL)
    named = (row for row in known if _is_named(row, report))
    open_ = (row for row in same if _could_match(row, report))
    found = next(named, None) or next(open_, None)
    if found is None:
        return None
    refund = await work.lock(Refund, found.id)
    if str(refund.id) != report.item_reference:
        refund.provider_reference = refund.provider_reference or report.item_reference
    refund.provider_alias = refund.provider_alias or report.item_alias
    await work.save(refund)
    return refund


def _is_named(refund: Refund, report: ProviderReport) -> bool:
    number, alias = report.item_reference, report.item_alias
    by_number = number is not None and number in (str(refund.id), refund.provider_reference)
    return by_number or (alias is not None and alias == refund.provider_alias)


def _could_match(refund: Refund, report: ProviderReport) -> bool:
    """Whether no id contradicts the match."""
    numbers = {refund.provider_reference, report.item_reference} - {None}
    aliases = {refund.provider_alias, report.item_alias} - {None}
    return len(numbers) < 2 and len(aliases) < 2


async def _add_unknown_refund(
    work: Work, payment: Payment, report: ProviderReport, amount: int
) -> Refund:
    made = await work.add(
        Refund(
            organization_id=payment.organization_id,
            payment_id=payment.id,
            provider=payment.provider,
            provider_reference=report.item_reference,
            provider_alias=report.item_alias,
            amount_minor=amount,
            currency=payment.currency,
            reason="Refunded on the provider's dashboard.",
        )
    )
    return await work.lock(Refund, made.id)


async def _move(
    work: Work,
    payment: Payment,
    book: Book,
    refund: Refund,
    report: ProviderReport,
    source: ReportSource,
) -> ReportOutcome:
    to, move = _MOVES[report.status]
    if _RANK[to] <= _RANK[refund.status]:
        return await record_report(work, payment, report, source, StatementOutcome.STALE)
    move(refund, at=work.now)
    _settle_times(work, refund)
    await work.save(refund)
    if to is RefundStatus.SUCCEEDED:
        payment.refunded_minor += refund.amount_minor
        await work.save(payment)
        entry = EntrySource("refund", refund.id, f"refund:{refund.id}")
        booking = ledger.refund_booking(payment.provider, refund.amount)
        await ledger.post(work, booking, book=book, source=entry, occurred_at=work.now)
        work.publish(
            public.RefundSucceeded(
                organization_id=refund.organization_id,
                refund_id=refund.id,
                payment_id=payment.id,
                amount=refund.amount,
            )
        )
    return await record_report(work, payment, report, source, StatementOutcome.APPLIED)
