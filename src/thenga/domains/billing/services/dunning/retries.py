"""Retries of a failed payment: scheduled, manual, and with a new method (BIL-39, 42, 44)."""

from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.lifecycles import PaymentFailureLifecycle
from thenga.domains.billing.services import access, customer, invoicing, payments
from thenga.domains.billing.services.dunning import failures, notices
from thenga.domains.billing.services.payments import (
    PaymentChoice,
    PaymentInProgress,
    PaymentMethodRequired,
    RetryLimit,
)
from thenga.domains.billing.tables import (
    Account,
    Attempt,
    FailureStatus,
    Invoice,
    Payment,
    PaymentFailure,
    PaymentMethod,
    Subscription,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible

_MOST_BY_HAND = 5
_DAY = timedelta(hours=24)
_SETTLED = {
    FailureStatus.RECOVERED: "This payment has already been recovered; there is nothing to retry.",
    FailureStatus.WRITTEN_OFF: "This invoice was written off; there is nothing to retry.",
}


async def lock_recovery(
    work: Work, failure_id: UUID
) -> tuple[PaymentFailure, Subscription, Invoice]:
    """Lock a recovery, its subscription and its invoice, in the lock order."""
    known = await work.get(PaymentFailure, failure_id)
    await customer.lock_account(work)
    subscription = await work.lock(Subscription, known.subscription_id, beside=True)
    invoice = await work.lock(Invoice, known.invoice_id, beside=True)
    return await work.lock(PaymentFailure, failure_id), subscription, invoice


async def retry_on_date(
    work: Work, failure: PaymentFailure, subscription: Subscription, invoice: Invoice
) -> None:
    """A scheduled retry: charge, or remind if a charge cannot succeed."""
    failure.next_retry_at = access.next_retry(failure, work.now)
    failure.retries_left = access.retries_left(failure, work.now)
    if await payments.charge_in_progress(work, invoice.id) is not None:
        return  # a manual retry is in progress
    method = await payments.default_method(work, subscription.account_id)
    stopped = await _is_stopped(work, invoice)
    if method is None or stopped or access.is_reminder_only(failure):
        await _remind(work, failure, subscription, invoice)
        return
    if await payments.next_charge_allowed(work, method.id, invoice) > work.now:
        return
    await _charge(work, failure, invoice, method.id, initiated_by="system")


async def _remind(
    work: Work, failure: PaymentFailure, subscription: Subscription, invoice: Invoice
) -> None:
    reminder = Attempt(at=work.now, reminder=True)
    failure.attempts = [*failure.attempts, reminder.to_row()]
    failure.notices += 1
    tried = failure.retries_left == 0 and failure.held_since is None
    if tried and failure.status is not FailureStatus.EXHAUSTED:
        await failures.exhaust(work, failure, subscription)
    await work.save(failure)
    await notices.notify_failed(work, failure, invoice, payment_id=None)


async def retry_now(work: Work, failure_id: UUID, *, method_id: UUID | None) -> Payment:
    """Retry at a customer's request, with the named method or the account's default."""
    failure, subscription, invoice = await lock_recovery(work, failure_id)
    if failure.status not in PaymentFailureLifecycle.UNSETTLED:
        raise not_possible(
            _SETTLED[failure.status],
            status=failure.status,
            operation="retry",
            allowed=[],
        )
    charged = await payments.charge_in_progress(work, invoice.id)
    if charged is not None:
        raise PaymentInProgress(paymentId=str(charged.id))
    chosen = await _chosen(work, subscription, method_id)
    _check_manual_retries(failure, work.now)
    return await _charge(work, failure, invoice, chosen.id, initiated_by="customer")


async def _chosen(
    read: Reader, subscription: Subscription, method_id: UUID | None
) -> PaymentMethod:
    if method_id is not None:
        return await read.get(PaymentMethod, method_id)
    method = await payments.default_method(read, subscription.account_id)
    if method is None:
        raise PaymentMethodRequired()
    return method


def _check_manual_retries(failure: PaymentFailure, now: datetime) -> None:
    by_hand = [
        attempt.at
        for attempt in failure.history
        if attempt.initiated_by == "customer" and now - attempt.at < _DAY
    ]
    if len(by_hand) >= _MOST_BY_HAND:
        allowed = sorted(by_hand)[-_MOST_BY_HAND] + _DAY
        raise RetryLimit(nextAllowedAt=allowed.isoformat())


async def _charge(
    work: Work,
    failure: PaymentFailure,
    invoice: Invoice,
    method_id: UUID,
    *,
    initiated_by: Literal["customer", "system"],
) -> Payment:
    account = await work.get(Account, invoice.account_id)
    PaymentFailureLifecycle.attempt(failure, at=work.now)
    await work.save(failure)
    how = PaymentChoice(payment_method_id=method_id)
    return await payments.begin_payment(
        work, account, invoice, how=how, initiated_by=initiated_by, attempt=failure.notices
    )


async def _is_stopped(read: Reader, invoice: Invoice) -> bool:
    """Whether jobs charge nothing: the account is parked, or the seller is not set."""
    if (await read.get(Account, invoice.account_id)).parked is not None:
        return True
    return await invoicing.is_blocked(read, invoice.seller_code, invoice.book)


async def retry_with_new_method(work: Work, method: PaymentMethod) -> None:
    """Retry all recoveries with a newly added method (BIL-39)."""
    if not await payments.chargeable_methods(work, [method]):
        return
    statement = select(PaymentFailure).where(
        among(
            PaymentFailure.status,
            PaymentFailureLifecycle.UNSETTLED,
        )
    )
    for known in await work.all(statement.order_by(PaymentFailure.id), limit=50):
        failure, _, invoice = await lock_recovery(work, known.id)
        charged = await payments.charge_in_progress(work, invoice.id)
        owed = invoice.amount_due_minor > 0 and charged is None
        owed = owed and not await _is_stopped(work, invoice)
        if owed and await payments.next_charge_allowed(work, method.id, invoice) <= work.now:
            await _charge(work, failure, invoice, method.id, initiated_by="system")
