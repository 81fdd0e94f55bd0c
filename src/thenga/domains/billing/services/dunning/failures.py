"""Payments that failed: a dated, visible recovery of one invoice (BIL-39 to BIL-44).

It begins with the first decline, is moved by its dates, by money and by people who try again, and
reduces nothing that its policy does not name.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, literal, select

from thenga.domains.billing import settings
from thenga.domains.billing.lifecycles import PaymentFailureLifecycle, SubscriptionLifecycle
from thenga.domains.billing.services import access, entitlements, subscription_state
from thenga.domains.billing.services.dunning import notices
from thenga.domains.billing.tables import (
    Account,
    FailureCategory,
    FailureKind,
    FailureStatus,
    Invoice,
    Payment,
    PaymentFailure,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel import configuration
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.rows import Instant
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day

_NEVER = datetime(9999, 1, 1, tzinfo=UTC)


def decline_category(payment: Payment) -> FailureCategory:
    """Why a charge was declined, as its adapter understood it."""
    return FailureCategory((payment.failure or {}).get("category") or FailureCategory.SOFT)


async def record_decline(
    work: Work, invoice: Invoice, subscription: Subscription, payment: Payment
) -> None:
    """A charge was declined: begin the recovery of its invoice, or count one more attempt."""
    category = decline_category(payment)
    attempt = {
        "at": work.now.isoformat(),
        "paymentId": str(payment.id),
        "paymentMethodId": str(payment.payment_method_id) if payment.payment_method_id else None,
        "initiatedBy": payment.initiated_by,
        "category": category.value,
        "code": (payment.failure or {}).get("code"),
    }
    known = await access.unsettled_failure(work, invoice.id)
    if known is None:
        kind = FailureKind.DECLINED
        await open_failure(
            work, invoice, subscription, kind=kind, category=category, attempt=attempt
        )
        return
    failure = await work.lock(PaymentFailure, known.id)
    if _say_more(failure, attempt):
        await work.save(failure)
        return
    failure.category = category
    failure.attempts, failure.notices = [*failure.attempts, attempt], failure.notices + 1
    await _go_on(work, failure, subscription)
    await notices.notify_failed(work, failure, invoice, payment_id=payment.id)


def _say_more(failure: PaymentFailure, attempt: dict[str, Any]) -> bool:
    """Whether it was counted already, as cancelled before it was told as declined (BIL-31)."""
    told = [one.get("paymentId") for one in failure.attempts]
    if attempt["paymentId"] not in told:
        return False
    place = told.index(attempt["paymentId"])
    said = failure.attempts[place] | {"category": attempt["category"], "code": attempt["code"]}
    failure.attempts = [*failure.attempts[:place], said, *failure.attempts[place + 1 :]]
    if place == len(told) - 1:
        failure.category = FailureCategory(attempt["category"])
    return True


async def open_failure(
    work: Work,
    invoice: Invoice,
    subscription: Subscription,
    *,
    kind: FailureKind,
    category: FailureCategory,
    attempt: dict[str, Any] | None = None,
    failed_at: datetime | None = None,
) -> PaymentFailure:
    """The first failure: its dates and its policy are frozen, and it is told at once."""
    failure = await _dated(work, invoice, subscription, kind, category, failed_at or work.now)
    failure.attempts = [attempt] if attempt else []
    await work.add(failure)
    await _fall_behind(work, subscription)
    payment_id = UUID(attempt["paymentId"]) if attempt and attempt["paymentId"] else None
    await notices.notify_failed(work, failure, invoice, payment_id=payment_id)
    await entitlements.refresh(work, reason="payment_failed")
    return failure


async def _dated(
    read: Reader,
    invoice: Invoice,
    subscription: Subscription,
    kind: FailureKind,
    category: FailureCategory,
    at: datetime,
) -> PaymentFailure:
    """A recovery with all its dates; one of a parked account waits from the beginning."""
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


async def _fall_behind(work: Work, subscription: Subscription) -> None:
    if subscription.status not in (SubscriptionStatus.ACTIVE, SubscriptionStatus.TRIALING):
        return  # another invoice of it is behind already, or it is paused
    SubscriptionLifecycle.fall_behind(subscription, at=work.now)
    await subscription_state.schedule_next_check(work, subscription)
    if subscription.anchor_date is None:
        subscription.next_check_at = None  # it has no periods yet; the recovery moves it
    await work.save(subscription)
    await subscription_state.publish_change(work, subscription, "past_due")


async def _go_on(work: Work, failure: PaymentFailure, subscription: Subscription) -> None:
    """One more attempt has failed; what is left decides whether there will be another."""
    failure.next_retry_at = access.next_retry(failure, work.now)
    failure.retries_left = access.retries_left(failure, work.now)
    if failure.retries_left == 0:
        await exhaust(work, failure, subscription)
        return
    if failure.status is FailureStatus.RETRYING:
        PaymentFailureLifecycle.fail(failure, at=work.now)
    await work.save(failure)


async def exhaust(work: Work, failure: PaymentFailure, subscription: Subscription) -> None:
    """Nothing is left to try by itself: the subscription is suspended (BIL-41)."""
    PaymentFailureLifecycle.exhaust(failure, at=work.now)
    failure.next_retry_at, failure.retries_left = None, 0
    if failure.exhausted_at is not None:  # tried by hand once more
        await work.save(failure)
        return
    # What a bank has taken back has no dates left; else the last of them, whatever the sweep.
    failure.exhausted_at = access.exhausts_at(failure) or work.now
    await work.save(failure)
    if subscription.status is SubscriptionStatus.PAST_DUE and not failure.first_charge:
        SubscriptionLifecycle.suspend(subscription, at=work.now)
        await subscription_state.schedule_next_check(work, subscription)
        await work.save(subscription)
        await subscription_state.publish_change(work, subscription, "suspended")
    await entitlements.refresh(work, reason="suspended")


# No date stands for the end of time, so that every row has its place in the order.
_ORDERS: dict[str, ColumnElement[Any]] = {
    "firstFailedAt": PaymentFailure.__table__.c.first_failed_at,
    "nextRetryAt": func.coalesce(
        PaymentFailure.__table__.c.next_retry_at, literal(_NEVER, Instant)
    ),
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
    """The recoveries of the organization, newest first unless asked otherwise."""
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
