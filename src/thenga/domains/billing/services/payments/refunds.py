"""Refunds: credit that goes back the way it came, never more than came (BIL-31, BIL-47)."""

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
    Answer,
    Book,
    DisputeStatus,
    Payment,
    PaymentStatus,
    Refund,
    RefundOrder,
    RefundStatus,
    StatedStatus,
    Statement,
    StatementOutcome,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Form, job_stub
from thenga.kernel.declare.lifecycle import Move, not_possible
from thenga.kernel.errors import InvalidTransition, RuleViolated, told
from thenga.kernel.values.money import Money

_RANK = {one: rank for rank, one in enumerate(RefundStatus)}
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

    members = told(**InvalidTransition.members, disputeStatus=(str, "Status of the dispute."))


async def request_refund(work: Work, payment_id: UUID, *, amount: Money, reason: str) -> Refund:
    """Pay credit back through the provider that brought it; the job sends it."""
    account = await customer.lock_account(work)  # its credit is spent here
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
    # What a document that waits for its number counts on is not there to be paid back.
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
    """Whether its money went back by the bank, or may go so."""
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
    """What went back of a payment or is on its way."""
    found = await _of(read, payment)
    return sum(one.amount_minor for one in found if one.status is not RefundStatus.FAILED)


async def _of(read: Reader, payment: Payment) -> list[Refund]:
    statement = select(Refund).where(Refund.payment_id == payment.id)
    return await read.all(statement.order_by(Refund.id), limit=1000)


async def begin_refund(work: Work, refund_id: UUID) -> RefundOrder | None:
    """What the provider is asked to pay back, once: not every provider knows a repeat, so whoever
    comes after a worker that died on the way only asks (security rule 18)."""
    refund = await work.lock(Refund, refund_id)
    if refund.status is not RefundStatus.REQUESTED:
        return None
    RefundLifecycle.process(refund, at=work.now)
    _settle_times(work, refund)
    await work.save(refund)
    return await _order(work, refund)


async def refund_query(read: Reader, refund_id: UUID) -> RefundOrder | None:
    """What the provider is asked about; none where it is decided or not time yet."""
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


async def record_refund_answer(work: Work, refund_id: UUID, answer: Answer, *, source: str) -> None:
    """What came of calling the provider; one that it could not take has failed, silence is an
    unknown and leaves it as it is (BIL-32)."""
    account = await customer.lock_account(work)
    known = await work.get(Refund, refund_id)
    payment = await work.lock(Payment, known.payment_id)
    refund = await work.lock(Refund, refund_id)
    if answer.statement is not None:
        if refund.provider_reference is None:
            refund.provider_reference = answer.statement.item_reference
            await work.save(refund)
        await _move(work, payment, account.book, refund, answer.statement, ReportSource(source))
    elif refund.status is RefundStatus.PROCESSING and _came_to_nothing(refund, answer, work.now):
        RefundLifecycle.fail(refund, at=work.now)
        _settle_times(work, refund)
        await work.save(refund)
    await _ask_later(work, payment, refund)


def _came_to_nothing(refund: Refund, answer: Answer, now: datetime) -> bool:
    """It was refused; or the provider has not heard of it in an hour, so it never got there."""
    if answer.fault is not None:
        return True
    spoken_of = refund.provider_reference is not None
    waited = refund.sent_at is not None and now >= refund.sent_at + polling.FAULT_PAUSE
    return answer.unheard and waited and not spoken_of


def _settle_times(work: Work, refund: Refund) -> None:
    if refund.status in RefundLifecycle.FINAL:
        refund.next_check_at = None
        return
    refund.sent_at = refund.sent_at or work.now
    refund.next_check_at = polling.next_poll_at(refund.sent_at, work.now)


async def _ask_later(work: Work, payment: Payment, refund: Refund) -> None:
    """The next time to ask is a later one; after the last one somebody is told."""
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
    work: Work, payment: Payment, book: Book, statement: Statement, heard: ReportSource
) -> ReportOutcome:
    """What a provider says of a refund, also of one that was made on its own pages."""
    refund = await _meant(work, payment, statement)
    amount = statement.amount_minor
    if refund is None:
        if amount is None or amount <= 0:
            return await quarantine(work, payment, statement, heard, "amount_differs")
        if amount > payment.amount_minor - await _promised(work, payment):
            return await quarantine(work, payment, statement, heard, "refund_exceeds")
        refund = await _found(work, payment, statement, amount)
    elif amount not in (None, refund.amount_minor):
        return await quarantine(work, payment, statement, heard, "amount_differs")
    return await _move(work, payment, book, refund, statement, heard)


async def _meant(work: Work, payment: Payment, statement: Statement) -> Refund | None:
    """The one that is spoken of: by a name that we know, else one of the amount that has no such
    name yet, those that are under way first."""
    known = await _of(work, payment)
    same = [one for one in known if one.amount_minor == statement.amount_minor]
    same.sort(key=lambda one: one.status in RefundLifecycle.FINAL)
    named = (one for one in known if _is_named(one, statement))
    open_ = (one for one in same if _may_be(one, statement))
    found = next(named, None) or next(open_, None)
    if found is None:
        return None
    refund = await work.lock(Refund, found.id)
    if str(refund.id) != statement.item_reference:
        refund.provider_reference = refund.provider_reference or statement.item_reference
    refund.provider_alias = refund.provider_alias or statement.item_alias
    await work.save(refund)
    return refund


def _is_named(refund: Refund, statement: Statement) -> bool:
    number, alias = statement.item_reference, statement.item_alias
    by_number = number is not None and number in (str(refund.id), refund.provider_reference)
    return by_number or (alias is not None and alias == refund.provider_alias)


def _may_be(refund: Refund, statement: Statement) -> bool:
    """Whether no name says that it is another one."""
    numbers = {refund.provider_reference, statement.item_reference} - {None}
    aliases = {refund.provider_alias, statement.item_alias} - {None}
    return len(numbers) < 2 and len(aliases) < 2


async def _found(work: Work, payment: Payment, statement: Statement, amount: int) -> Refund:
    made = await work.add(
        Refund(
            organization_id=payment.organization_id,
            payment_id=payment.id,
            provider=payment.provider,
            provider_reference=statement.item_reference,
            provider_alias=statement.item_alias,
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
    statement: Statement,
    heard: ReportSource,
) -> ReportOutcome:
    to, move = _MOVES[statement.status]
    if _RANK[to] <= _RANK[refund.status]:
        return await record_report(work, payment, statement, heard, StatementOutcome.STALE)
    move(refund, at=work.now)
    _settle_times(work, refund)
    await work.save(refund)
    if to is RefundStatus.SUCCEEDED:
        payment.refunded_minor += refund.amount_minor
        await work.save(payment)
        source = EntrySource("refund", refund.id, f"refund:{refund.id}")
        booking = ledger.refund_booking(payment.provider, refund.amount)
        await ledger.post(work, booking, book=book, source=source, occurred_at=work.now)
        work.publish(
            public.RefundSucceeded(
                organization_id=refund.organization_id,
                refund_id=refund.id,
                payment_id=payment.id,
                amount=refund.amount,
            )
        )
    return await record_report(work, payment, statement, heard, StatementOutcome.APPLIED)
