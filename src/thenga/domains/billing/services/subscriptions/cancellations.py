"""Cancellations: at the end of the paid period, or at once with a credit (BIL-7 to 9)."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing import public
from thenga.domains.billing.lifecycles import CancellationLifecycle, SubscriptionLifecycle
from thenga.domains.billing.services import customer, entitlements, trials
from thenga.domains.billing.services.invoicing import current_period
from thenga.domains.billing.services.plan_changes import SubscriptionPaused, withdraw_change
from thenga.domains.billing.services.subscription_state import (
    end_subscription,
    publish_change,
    schedule_next_check,
)
from thenga.domains.billing.services.subscriptions import cancellation_refunds
from thenga.domains.billing.services.subscriptions.cancellation_refunds import CancellationCredit
from thenga.domains.billing.tables import (
    Cancellation,
    CancellationMode,
    CancellationStatus,
    Settlement,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import where_given
from thenga.kernel.db.work import Work
from thenga.kernel.declare.lifecycle import not_possible
from thenga.kernel.errors import Problem


class DisputeOpen(Problem):
    """A payment of this subscription is disputed at the bank. Cancel with `period_end`, or with
    `immediate` once the dispute is settled."""

    code, status, title = "billing-dispute-open", 409, "A payment is disputed"


@dataclass(frozen=True, slots=True)
class CancellationRequest:
    """A requested cancellation. Without a settlement the best one available is used."""

    mode: CancellationMode
    reason_code: str
    comment: str | None
    settlement: Settlement | None


async def cancel_subscription(
    work: Work, subscription: Subscription, request: CancellationRequest
) -> tuple[Cancellation, bool]:
    """Cancel a locked subscription, and return False if it already is."""
    scheduled = await _scheduled(work, subscription)
    if scheduled is not None and request.mode is scheduled.mode:
        return scheduled, False
    if subscription.status in SubscriptionLifecycle.OVER:
        return await _earlier_cancellation(work, subscription), False
    _check(subscription, request.mode)
    if scheduled is not None:
        CancellationLifecycle.replace(scheduled, at=work.now)
        await work.save(scheduled)
    while subscription.pending_change is not None:  # a scheduled change can be behind an unpaid one
        await withdraw_change(work, subscription)
    if (
        subscription.status is SubscriptionStatus.TRIALING
        and request.mode is CancellationMode.PERIOD_END
    ):
        await trials.drop_unpaid_conversion(work, subscription)
    cancellation = await _add(work, subscription, request)
    subscription.cancellation_id = cancellation.id
    subscription.cancel_at = cancellation.effective_at
    await schedule_next_check(work, subscription)
    await work.save(subscription)
    _publish_cancelled(work, cancellation)
    if cancellation.effective_at <= work.now:
        await _end_now(work, subscription, request)
    else:
        await entitlements.refresh(work, reason="cancellation_scheduled")
    return await work.get(Cancellation, cancellation.id), True


def _publish_cancelled(work: Work, cancellation: Cancellation) -> None:
    work.publish(
        public.SubscriptionCancelled(
            organization_id=cancellation.organization_id,
            subscription_id=cancellation.subscription_id,
            cancellation_id=cancellation.id,
            mode=cancellation.mode.value,
            reason_code=cancellation.reason_code,
            effective_at=cancellation.effective_at,
        )
    )
    customer.notify(work, customer.SUBSCRIPTION_CANCELLED, cancellation.id)


async def _earlier_cancellation(read: Reader, subscription: Subscription) -> Cancellation:
    """The cancellation that ended it. A subscription that ended otherwise cannot be cancelled."""
    if subscription.cancellation_id is not None:
        found = await read.get(Cancellation, subscription.cancellation_id)
        if found.status is CancellationStatus.EFFECTIVE:
            return found
    raise not_possible(
        "This subscription is not active, so there is nothing to cancel.",
        status=subscription.status,
        operation="cancel",
        allowed=[],
    )


def _check(subscription: Subscription, mode: CancellationMode) -> None:
    at_once = mode is CancellationMode.IMMEDIATE
    if subscription.status is SubscriptionStatus.PAUSED and not at_once:
        raise SubscriptionPaused(
            "A paused subscription can only be cancelled with `immediate`. Send that, or resume "
            "first."
        )
    if subscription.disputed and at_once:
        raise DisputeOpen()


async def _add(
    work: Work, subscription: Subscription, request: CancellationRequest
) -> Cancellation:
    ends_at = current_period(subscription).ends_at
    at_once = request.mode is CancellationMode.IMMEDIATE
    kept = Settlement.NONE if not at_once else request.settlement or Settlement.CREDIT
    return await work.add(
        Cancellation(
            organization_id=subscription.organization_id,
            subscription_id=subscription.id,
            mode=request.mode,
            reason_code=request.reason_code,
            comment=request.comment,
            requested_by=work.actor.id,
            settlement=kept,
            # The period has ended and was not renewed, so it ends now.
            effective_at=work.now if at_once else max(ends_at, work.now),
        )
    )


async def _end_now(work: Work, subscription: Subscription, request: CancellationRequest) -> None:
    """End it and credit the days after today."""
    if subscription.status is SubscriptionStatus.TRIALING and subscription.trial_id is not None:
        await trials.cancel_trial(work, subscription.trial_id)
        return
    given: CancellationCredit | None = None
    if request.mode is CancellationMode.IMMEDIATE and request.settlement is not Settlement.NONE:
        given = await cancellation_refunds.credit_unused_time(
            work, subscription, request.settlement
        )
    await end_subscription(work, subscription, reason="cancelled")
    if given is not None and subscription.cancellation_id is not None:
        cancellation = await work.lock(Cancellation, subscription.cancellation_id)
        await cancellation_refunds.record_credit(work, cancellation, given)


async def take_effect(work: Work, subscription: Subscription) -> None:
    """End a subscription on the day of its cancellation (BIL-7)."""
    if subscription.cancel_at is None or work.now < subscription.cancel_at:
        return
    if subscription.status not in SubscriptionLifecycle.OVER:
        await end_subscription(work, subscription, reason="cancelled")


async def undo_cancellation(work: Work, cancellation_id: UUID) -> Cancellation:
    """Undo a scheduled cancellation: same anchor, period and version (BIL-9)."""
    known = await work.get(Cancellation, cancellation_id)
    await customer.lock_account(work)
    subscription = await work.lock(Subscription, known.subscription_id, beside=True)
    cancellation = await work.lock(Cancellation, cancellation_id)
    if CancellationLifecycle.undo(cancellation, at=work.now):
        cancellation.undone_at = work.now
        await work.save(cancellation)
        subscription.cancel_at = subscription.cancellation_id = None
        await schedule_next_check(work, subscription)
        await work.save(subscription)
        await publish_change(work, subscription, "cancellation_undone")
        await entitlements.refresh(work, reason="cancellation_undone")
    return cancellation


async def _scheduled(work: Work, subscription: Subscription) -> Cancellation | None:
    if subscription.cancellation_id is None:
        return None
    found = await work.lock(Cancellation, subscription.cancellation_id)
    return found if found.status is CancellationStatus.SCHEDULED else None


async def list_cancellations(
    read: Reader, paged: Paged, *, status: CancellationStatus | None, reason_code: str | None
) -> Slice[Cancellation]:
    """The organization's cancellations."""
    statement = select(Cancellation)
    statement = where_given(
        statement, (Cancellation.status, status), (Cancellation.reason_code, reason_code)
    )
    return await read.page(statement, paged)
