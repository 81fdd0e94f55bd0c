"""Payment failures: the dated recovery of one unpaid invoice (BIL-39 to BIL-44).

It starts with the first decline and follows its schedule, payments and manual retries. It reduces
only what its policy names.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal_column, select

from thenga.domains.billing import settings
from thenga.domains.billing.lifecycles import PaymentFailureLifecycle, SubscriptionLifecycle
from thenga.domains.billing.services import access, entitlements, subscription_state
from thenga.domains.billing.services.dunning import notices
from thenga.domains.billing.tables import (
    Account,
    Attempt,
    FailureCategory,
    FailureKind,
    FailureStatus,
    Invoice,
    Payment,
    PaymentFailure,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day

_NEVER = literal_column("TIMESTAMPTZ '9999-01-01 00:00:00Z'", Instant)


def decline_category(payment: Payment) -> FailureCategory:
    """The decline category that the adapter determined."""
    return FailureCategory.SOFT if payment.decline is None else payment.decline.category


async def record_decline(
    work: Work, invoice: Invoice, subscription: Subscription, payment: Payment
) -> None:
    """Start the recovery of a declined invoice, or add an attempt to it."""
    category = decline_category(payment)
    attempt = Attempt(
        at=work.now,
        payment_id=payment.id,
        payment_method_id=payment.payment_method_id,
        initiated_by=payment.initiated_by,
        category=category,
        code=None if payment.decline is None else payment.decline.code,
    )
    known = await access.unsettled_failure(work, invoice.id)
    if known is None:
        kind = FailureKind.DECLINED
        await open_failure(
            work, invoice, subscription, kind=kind, category=category, attempt=attempt
        )
        return
    failure = await work.lock(PaymentFailure, known.id)
    if _update_known_attempt(failure, attempt):
        await work.save(failure)
        return
    failure.category = category
    failure.attempts, failure.notices = [*failure.attempts, attempt.to_row()], failure.notices + 1
    await _plan_next_retry(work, failure, subscription)
    await notices.notify_failed(work, failure, invoice, payment_id=payment.id)


def _update_known_attempt(failure: PaymentFailure, attempt: Attempt) -> bool:
    """Update an attempt that was counted as cancelled before its decline was reported (BIL-31)."""
    history = failure.history
    counted = [known.payment_id for known in history]
    if attempt.payment_id not in counted:
        return False
    place = counted.index(attempt.payment_id)
    history[place] = replace(history[place], category=attempt.category, code=attempt.code)
    failure.attempts = [known.to_row() for known in history]
    if place == len(counted) - 1 and attempt.category is not None:
        failure.category = attempt.category
    return True


async def open_failure(
    work: Work,
    invoice: Invoice,
    subscription: Subscription,
    *,
    kind: FailureKind,
    category: FailureCategory,
    attempt: Attempt | None = None,
    failed_at: datetime | None = None,
) -> PaymentFailure:
    """Start a recovery: fix its dates and policy, and notify the customer."""
    failure = await _new_failure(work, invoice, subscription, kind, category, failed_at or work.now)
    failure.attempts = [attempt.to_row()] if attempt else []
    await work.add(failure)
    await _mark_past_due(work, subscription)
    payment_id = attempt.payment_id if attempt else None
    await notices.notify_failed(work, failure, invoice, payment_id=payment_id)
    await entitlements.refresh(work, reason="payment_failed")
    return failure


async def _new_failure(
    read: Reader,
    invoice: Invoice,
    subscription: Subscription,
    kind: FailureKind,
    category: FailureCategory,
    at: datetime,
) -> PaymentFailure:
    """A recovery with all its dates, on hold if the account is parked."""
    policy = await configuration.in_force(read, settings.DUNNING, on=local_day(at))
    first_charge = subscription.status is SubscriptionStatus.TRIALING
    dates = access.dunning_dates(at, policy.value, kind=kind, first_charge=first_charge)
    failure = PaymentFailure(
        organization_id=invoice.organization_id,
        subscription_id=subscription.id,
        invoice_id=invoice.id,
        kind=kind,
        category=category,
        first_charge=first_charge,
        first_failed_at=at,
        policy=settings.DUNNING.to_json(policy.value),
        policy_version=local_day(policy.since) if policy.since else settings.LAUNCHED_ON,
        retries_left=len(dates.retries),
        next_retry_at=min(dates.retries, default=None),
        grace_ends_at=dates.grace_ends_at,
        ends_at=dates.ends_at,
    )
    if (await read.get(Account, invoice.account_id)).parked is not None:
        failure.held_since = read.now
    failure.next_check_at = access.next_dunning_check(failure, read.now)
    return failure


async def _mark_past_due(work: Work, subscription: Subscription) -> None:
    if subscription.status not in (SubscriptionStatus.ACTIVE, SubscriptionStatus.TRIALING):
        return  # another invoice is overdue already, or it is paused
    SubscriptionLifecycle.fall_behind(subscription, at=work.now)
    await subscription_state.schedule_next_check(work, subscription)
    if subscription.anchor_date is None:
        subscription.next_check_at = None  # it has no periods yet, so only the recovery has dates
    await work.save(subscription)
    await subscription_state.publish_change(work, subscription, "past_due")


async def _plan_next_retry(work: Work, failure: PaymentFailure, subscription: Subscription) -> None:
    """After another failed attempt: schedule the next retry, or exhaust the recovery."""
    failure.next_retry_at = access.next_retry(failure, work.now)
    failure.retries_left = access.retries_left(failure, work.now)
    if failure.retries_left == 0:
        await exhaust(work, failure, subscription)
        return
    if failure.status is FailureStatus.RETRYING:
        PaymentFailureLifecycle.fail(failure, at=work.now)
    await work.save(failure)


async def exhaust(work: Work, failure: PaymentFailure, subscription: Subscription) -> None:
    """No automatic retries are left: suspend the subscription (BIL-41)."""
    PaymentFailureLifecycle.exhaust(failure, at=work.now)
    failure.next_retry_at, failure.retries_left = None, 0
    if failure.exhausted_at is not None:  # a manual retry after it was exhausted
        await work.save(failure)
        return
    # The last retry date, however late the job runs. A lost dispute has none.
    failure.exhausted_at = access.exhausts_at(failure) or work.now
    await work.save(failure)
    if subscription.status is SubscriptionStatus.PAST_DUE and not failure.first_charge:
        SubscriptionLifecycle.suspend(subscription, at=work.now)
        await subscription_state.schedule_next_check(work, subscription)
        await work.save(subscription)
        await subscription_state.publish_change(work, subscription, "suspended")
    await entitlements.refresh(work, reason="suspended")


# Rows without a date sort last.
_ORDERS: dict[str, ColumnElement[Any]] = {
    "firstFailedAt": PaymentFailure.__table__.c.first_failed_at,
    "nextRetryAt": func.coalesce(PaymentFailure.__table__.c.next_retry_at, _NEVER),
}


async def list_failures(
    read: Reader,
    paged: Paged,
    *,
    status: FailureStatus | None,
    subscription_id: UUID | None,
    category: FailureCategory | None,
    next_retry_before: datetime | None,
) -> Slice[PaymentFailure]:
    """The organization's recoveries, newest first by default."""
    statement = select(PaymentFailure)
    statement = where_given(
        statement,
        (PaymentFailure.status, status),
        (PaymentFailure.subscription_id, subscription_id),
        (PaymentFailure.category, category),
    )
    if next_retry_before is not None:
        statement = statement.where(PaymentFailure.next_retry_at < next_retry_before)
    return await read.page(statement, paged, _ORDERS.get(paged.sort))
