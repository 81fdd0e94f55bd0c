"""Applies provider reports. Any order and any repetition give the same result (BIL-31, BIL-36).

A payment has the highest-ranked status reported. A lower or repeated report is stored as stale; one
that does not match our records is quarantined and published, and changes nothing.
"""

from uuid import UUID

from thenga.domains.billing import public
from thenga.domains.billing.lifecycles import PaymentLifecycle
from thenga.domains.billing.public.payments import Finding
from thenga.domains.billing.services import access, customer, dunning, invoicing, ledger, payments
from thenga.domains.billing.services.ledger import EntrySource
from thenga.domains.billing.services.payments import (
    ReportOutcome,
    ReportSource,
    publish_mismatch,
    publish_payment_mismatch,
    quarantine,
    record_report,
)
from thenga.domains.billing.services.settlement import disputes, effects
from thenga.domains.billing.tables import (
    Account,
    Decline,
    FailureCategory,
    Invoice,
    Payment,
    PaymentMethod,
    PaymentStatus,
    Purpose,
    StatementOutcome,
)
from thenga.domains.billing.values.provider import (
    ProviderAnswer,
    ProviderReport,
    StatedStatus,
    StatementKind,
)
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import Move
from thenga.kernel.values.money import Money

_MOST_FEE = 10_000  # cents; a provider's minimum fee can exceed a small payment
# Failed, cancelled and expired share a level (BIL-31); the most specific one stays.
_RANK = {status: rank for rank, status in enumerate(PaymentStatus)}
_MOVES: dict[StatedStatus, Move] = {
    StatedStatus.REQUIRES_ACTION: PaymentLifecycle.start,
    StatedStatus.PROCESSING: PaymentLifecycle.process,
    StatedStatus.CANCELLED: PaymentLifecycle.cancel,
    StatedStatus.FAILED: PaymentLifecycle.fail,
    StatedStatus.SUCCEEDED: PaymentLifecycle.succeed,
}


async def apply_report(
    work: Work, payment_id: UUID, report: ProviderReport, source: ReportSource | None = None
) -> ReportOutcome:
    """Apply one report under the lock of its payment, once."""
    source = source or ReportSource()
    account = await customer.lock_account(work)
    payment = await work.lock(Payment, payment_id)
    finding = _mismatch(payment, report)
    if finding is not None:
        return await quarantine(work, payment, report, source, finding)
    if report.kind is StatementKind.REFUND:
        return await payments.apply_refund_report(work, payment, account.book, report, source)
    if report.kind is StatementKind.DISPUTE:
        return await disputes.apply_dispute_report(work, payment, account.book, report, source)
    return await _apply_payment_report(work, payment, account, report, source)


def _mismatch(payment: Payment, report: ProviderReport) -> Finding | None:
    """What does not match our records. Money moves only on a report with amount and currency; a
    failure can omit them (SEC-68)."""
    if report.reference != payment.reference:
        return "unknown_reference"
    moves = _moves_money(report)
    if report.currency != payment.currency and (moves or report.currency is not None):
        return "currency_differs"
    if report.amount_minor is None:
        return "amount_differs" if moves else None
    if not 0 <= (report.fee_minor or 0) <= max(report.amount_minor, _MOST_FEE):
        return "amount_differs"
    if report.kind is not StatementKind.PAYMENT:
        return None
    off = abs(report.amount_minor - payment.amount_minor)
    return "amount_differs" if off > report.tolerance_minor else None


def _moves_money(report: ProviderReport) -> bool:
    """Whether it moves money: a successful payment or refund, or any step of a dispute."""
    return report.kind is StatementKind.DISPUTE or report.status is StatedStatus.SUCCEEDED


async def _apply_payment_report(
    work: Work, payment: Payment, account: Account, report: ProviderReport, source: ReportSource
) -> ReportOutcome:
    second = _is_second(payment, report)
    moved = _RANK[PaymentStatus(report.status.value)] > _RANK[payment.status]
    if moved:
        _MOVES[report.status](payment, at=work.now)
        _settle_times(work, payment)
    payment.charge_again = False  # the provider has the order
    new = _update_payment(payment, report)
    await work.save(payment)
    if report.status is StatedStatus.SUCCEEDED and (moved or second):
        await _book(work, payment, account, report)
    fee = await _book_fee(work, payment, account, report)
    kept = False
    if report.status is StatedStatus.SUCCEEDED and report.token is not None:
        kept = await _save_method(work, payment, report)
    refused = await _refuse_method(work, payment, report)
    effect = moved or second or new or fee or kept or refused
    recorded = await record_report(
        work,
        payment,
        report,
        source,
        StatementOutcome.APPLIED if effect else StatementOutcome.STALE,
    )
    if second:
        publish_mismatch(work, payment, report, recorded, "paid_twice")
    if moved:
        await _apply_effects(work, payment)
        await ledger.refresh_collection_status(work, await work.lock(Invoice, payment.invoice_id))
    if kept and payment.payment_method_id is not None:
        # Amounts still owed are charged to the new method at once (BIL-39).
        await dunning.retry_with_new_method(
            work, await work.get(PaymentMethod, payment.payment_method_id)
        )
    return recorded


def _is_second(payment: Payment, report: ProviderReport) -> bool:
    """Whether it is a second payment under one reference: the provider's ids differ (BIL-33)."""
    if payment.status is not PaymentStatus.SUCCEEDED or report.status is not StatedStatus.SUCCEEDED:
        return False
    stated = report.provider_reference
    return stated is not None and stated not in payment.paid_by


def _settle_times(work: Work, payment: Payment) -> None:
    if payment.status in PaymentLifecycle.FINAL:
        payment.next_check_at, payment.next_action = None, None
    else:
        payment.next_check_at = payments.next_poll_at(payment.created_at, work.now)


def _update_payment(payment: Payment, report: ProviderReport) -> bool:
    """Store the latest details, independent of the order of reports."""
    before = (payment.failure, payment.provider_reference)
    if report.status is StatedStatus.SUCCEEDED:
        stated = report.provider_reference
        if stated is not None:
            payment.paid_by = sorted({*payment.paid_by, stated})
            payment.provider_reference = payment.paid_by[0]
        payment.failure = None
    elif payment.status is not PaymentStatus.SUCCEEDED and report.provider_reference is not None:
        known = payment.provider_reference
        payment.provider_reference = min(
            known or report.provider_reference, report.provider_reference
        )
    if payment.status is PaymentStatus.FAILED and report.status is StatedStatus.FAILED:
        former, decline = payment.decline, _decline(report)
        if former is None or _recency(decline) > _recency(former):
            payment.failure = decline.to_row()
    latest = [at for at in (payment.provider_updated_at, report.provider_at) if at is not None]
    payment.provider_updated_at = max(latest, default=None)
    return before != (payment.failure, payment.provider_reference)


def _decline(report: ProviderReport) -> Decline:
    category = report.category or payments.category_of(report.code or "")
    return Decline(FailureCategory(category), report.code, report.provider_at)


def _recency(decline: Decline) -> tuple[str, str, str]:
    at = "" if decline.at is None else decline.at.isoformat()
    return at, decline.code or "", decline.category


async def _book(work: Work, payment: Payment, account: Account, report: ProviderReport) -> None:
    """Book the payment as the customer's credit until an invoice uses it (BIL-47)."""
    named = report.provider_reference or payment.reference
    booking = (
        ledger.bank_transfer_booking(payment.amount)
        if payment.provider == payments.EFT
        else ledger.payment_booking(payment.provider, payment.amount)
    )
    source = EntrySource("payment", payment.id, f"payment:{payment.id}:{named}")
    stated = report.provider_at or work.now
    if payment.provider != payments.EFT:
        # The clock of a sandbox runs ahead of its provider's (BIL-50).
        stated = max(stated, payment.created_at)
    at = min(stated, work.now)
    await ledger.post(work, booking, book=account.book, source=source, occurred_at=at)


async def _book_fee(work: Work, payment: Payment, account: Account, report: ProviderReport) -> bool:
    if not report.fee_minor or payment.fee_minor or payment.status is not PaymentStatus.SUCCEEDED:
        return False
    payment.fee_minor = report.fee_minor
    await work.save(payment)
    fee = ledger.fee_booking(payment.provider, Money(report.fee_minor, payment.currency))
    source = EntrySource("payment", payment.id, f"fee:{payment.id}")
    await ledger.post(work, fee, book=account.book, source=source, occurred_at=work.now)
    return True


async def _save_method(work: Work, payment: Payment, report: ProviderReport) -> bool:
    assert report.token is not None  # noqa: S101  # asked by the caller
    method = await payments.save_method(work, payment, report.token)
    if payment.payment_method_id == method.id:
        return False
    payment.payment_method_id = method.id
    await work.save(payment)
    return True


async def _refuse_method(work: Work, payment: Payment, report: ProviderReport) -> bool:
    """Revoke a card after a hard decline.

    A successful payment proves that its card works, whatever was tried before (BIL-42).
    """
    hard = (
        report.status is StatedStatus.FAILED and _decline(report).category is FailureCategory.HARD
    )
    if not hard or payment.status is PaymentStatus.SUCCEEDED or payment.payment_method_id is None:
        return False
    return await payments.mark_method_refused(work, payment.payment_method_id)


async def _apply_effects(work: Work, payment: Payment) -> None:
    """Apply the payment's new status to its invoice and plan."""
    if payment.status is PaymentStatus.SUCCEEDED:
        await _succeeded(work, payment)
    elif payment.status in (PaymentStatus.FAILED, PaymentStatus.CANCELLED):
        invoice = await work.get(Invoice, payment.invoice_id)
        if invoice.purpose is Purpose.METHOD:
            await invoicing.discard_draft(work, await work.lock(Invoice, invoice.id))
        elif payment.status is PaymentStatus.FAILED or payment.payment_method_id is not None:
            # A customer cannot cancel a charge of a saved method, so it has failed (BIL-39).
            await effects.failed(work, payment)


async def _succeeded(work: Work, payment: Payment) -> None:
    failure = await access.unsettled_failure(work, payment.invoice_id)
    work.publish(
        public.PaymentSucceeded(
            organization_id=payment.organization_id,
            payment_id=payment.id,
            invoice_id=payment.invoice_id,
            subscription_id=payment.subscription_id,
            amount=payment.amount,
            failure_id=failure.id if failure else None,
        )
    )
    invoice = await work.get(Invoice, payment.invoice_id)
    if invoice.purpose is Purpose.METHOD:
        # The verification charge stays as the customer's credit.
        await invoicing.discard_draft(work, await work.lock(Invoice, invoice.id))
        return
    customer.notify(work, customer.RECEIPT, payment.id)
    # Received money may not be allocated yet, because the invoice waits for its number.
    waits = max(0, invoice.received_minor - invoice.amount_paid_minor)
    if invoice.amount_due_minor - waits < payment.amount_minor:
        due = Money(invoice.amount_due_minor, invoice.currency)
        publish_payment_mismatch(
            work, payment, "more_than_due", expected=due, stated=payment.amount
        )
    await effects.succeeded(work, payment)
    await effects.disputed(work, payment)  # reported before the payment


async def record_answer(
    work: Work, payment_id: UUID, answer: ProviderAnswer, *, source: str, reference: str
) -> None:
    """Apply a provider's answer about a reference. No answer changes nothing (BIL-32)."""
    if answer.report is not None:
        recorded = await apply_report(work, payment_id, answer.report, ReportSource(source))
        await _postpone_poll(work, recorded.payment)
        return
    await customer.lock_account(work)
    payment = await work.lock(Payment, payment_id)
    if payment.status in PaymentLifecycle.FINAL or payment.reference != reference:
        return  # final, or an answer about a replaced reference
    if answer.action is not None:
        _show_next_action(work, payment, answer)
    elif answer.fault is not None or (
        answer.unknown_reference and payment.payment_method_id is not None
    ):
        if payment.faults >= payments.MOST_FAULTS:
            await _fail_rejected(work, payment, answer.fault or "unknown to the provider", source)
            return
        payment.faults += 1
        payment.charge_again = payment.payment_method_id is not None
        payment.next_check_at = work.now + payments.FAULT_PAUSE
    else:
        await _schedule_poll(work, payment)
    await work.save(payment)


def _show_next_action(work: Work, payment: Payment, answer: ProviderAnswer) -> None:
    action = answer.action
    assert action is not None  # noqa: S101  # asked by the caller
    if payment.status is PaymentStatus.CREATED:
        PaymentLifecycle.start(payment, at=work.now)
    payment.next_action = {
        "kind": action.kind,
        "url": action.url,
        "fields": payments.ordered_fields(action.fields),
        "expiresAt": (payment.created_at + payments.OPEN_FOR).isoformat(),
    }
    payment.next_check_at = payments.next_poll_while_open(payment.created_at, work.now)


async def _postpone_poll(work: Work, payment: Payment) -> None:
    """Postpone the next poll after an answer that decides nothing."""
    when = payment.next_check_at
    if payment.status not in PaymentLifecycle.FINAL and when is not None and when <= work.now:
        await _schedule_poll(work, payment)
        await work.save(payment)


async def _schedule_poll(work: Work, payment: Payment) -> None:
    payment.charge_again = False
    if payment.status is PaymentStatus.CREATED:
        # The checkout address was lost, and a reference can be used only once.
        payment.reference = payments.new_reference()
    if payment.status is not PaymentStatus.PROCESSING:
        payment.next_check_at = payments.next_poll_while_open(payment.created_at, work.now)
        return
    payment.next_check_at = payments.next_poll_at(payment.created_at, work.now)
    if payment.next_check_at is None:
        await work.save(payment)
        publish_payment_mismatch(work, payment, "no_answer", expected=payment.amount)


async def _fail_rejected(work: Work, payment: Payment, fault: str, source: str) -> None:
    """After six rejected orders, an hour apart, the payment has failed."""
    failed = ProviderReport(
        reference=payment.reference,
        kind=StatementKind.PAYMENT,
        status=StatedStatus.FAILED,
        code=fault[:200],
        category="technical",
        provider_at=work.now,
    )
    await apply_report(work, payment.id, failed, ReportSource(source))
