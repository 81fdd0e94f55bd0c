"""Renewals: the period that starts where the paid one ends is billed, once (BIL-14).

Keyed by subscription and first day, so it does not matter when or how often it runs. Credit pays
first; the rest is charged to the method on file.
"""

from datetime import date, datetime
from uuid import UUID

from thenga.domains.billing import public
from thenga.domains.billing.services import (
    configuration,
    failures,
    invoices,
    parking,
    payments,
    periods,
    plan_changes,
    standing,
    subscription_moves,
    tax_data,
    telling,
    upcoming,
    usage_charges,
)
from thenga.domains.billing.services.payments import How
from thenga.domains.billing.services.periods import Period
from thenga.domains.billing.services.plans import PlanNotAvailable
from thenga.domains.billing.services.subscription_moves import interval_of
from thenga.domains.billing.services.tax_data import TaxDataMissing, recipient_of
from thenga.domains.billing.services.upcoming import Expected
from thenga.domains.billing.tables import (
    Access,
    Account,
    CollectionMethod,
    FailureCategory,
    FailureKind,
    Invoice,
    Purpose,
    Renewal,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.calendar import local_day, local_midnight
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound
from thenga.kernel.money import Money

S = SubscriptionStatus
RENEWING = (S.ACTIVE, S.PAST_DUE)
_REDUCED = (Access.READ_ONLY, Access.NONE)


async def pass_time(work: Work, subscription: Subscription) -> None:
    """Tell a renewal that is near, or make the one whose day has come; the row is held."""
    renews_on = subscription.period_end
    if not is_renewing(subscription) or renews_on is None:
        return
    if local_midnight(renews_on) <= work.now:
        await renew(work, subscription)
        return
    interval = interval_of(subscription)
    days = await configuration.renewal_notice_days(work, interval, local_day(work.now))
    if periods.notice_at(renews_on, days) <= work.now:
        await _announce(work, subscription, renews_on)


def is_renewing(subscription: Subscription) -> bool:
    """Whether a next period follows; a trial whose first charge failed has none yet."""
    counted = subscription.anchor_date is not None
    return counted and subscription.status in RENEWING and not _leaves(subscription)


def _leaves(subscription: Subscription) -> bool:
    """Whether it ends with this period or before; ending goes before renewing."""
    if subscription.cancel_at is None or subscription.period_end is None:
        return False
    return subscription.cancel_at <= local_midnight(subscription.period_end)


def is_behind(subscription: Subscription, now: datetime) -> bool:
    """Whether the present period is over as well."""
    renews_on = subscription.period_end
    behind = renews_on is not None and local_midnight(renews_on) <= now
    return behind and is_renewing(subscription)


async def _announce(work: Work, subscription: Subscription, renews_on: date) -> None:
    row = await _row(work, subscription, renews_on)
    if row.notice_sent_at is not None:
        return
    expected = await _wanted(work, subscription)
    if expected is None:
        return
    row.notice_sent_at = work.now
    row.amount_minor = expected.due.minor
    await work.save(row)
    work.publish(
        public.RenewalDue(
            organization_id=row.organization_id,
            renewal_id=row.id,
            subscription_id=subscription.id,
            at=local_midnight(renews_on),
            amount=expected.due,
            remedy=None if expected.can_be_paid else _put_a_method(expected.due),
        )
    )
    telling.tell(work, telling.RENEWAL_DUE, row.id)


def _put_a_method(due: Money) -> public.RemedyTold:
    return public.RemedyTold(kind="update_method", invoice_id=None, amount=due)


async def renew(work: Work, subscription: Subscription) -> None:
    """Bill the next period, unless it is billed, too early, or nothing is delivered now."""
    renews_on = subscription.period_end
    if renews_on is None or work.now < local_midnight(renews_on):
        return
    account = await work.lock(Account, subscription.account_id)
    failure = await standing.open_failure(work, subscription.id)
    if account.parked or standing.access(subscription, failure, work.now) in _REDUCED:
        return
    row = await _row(work, subscription, renews_on)
    if row.renewed_at is not None:
        return
    wanted = await _wanted(work, subscription)
    if wanted is None or not await _can_be_written(work, account, wanted):
        return
    await plan_changes.at_renewal(work, subscription, on=renews_on)
    await _bill(work, account, subscription, row, wanted.period, wanted.lines)


async def _wanted(work: Work, subscription: Subscription) -> Expected | None:
    """What the next period costs; a plan without a price for it is nobody's gift (BIL-51)."""
    try:
        return await upcoming.expected(work, subscription)
    except PlanNotAvailable:
        await parking.park(work, reason="price_missing")
        return None


async def _can_be_written(work: Work, account: Account, wanted: Expected) -> bool:
    """Whether a document can be made out, asked before anything moves: else neither the period
    nor the plan would be the one that is billed later (BIL-26, BIL-51)."""
    try:
        if wanted.lines:
            recipient_of(account, wanted.gross)
    except TaxDataMissing:
        await parking.park(work, reason=tax_data.PARKED_FOR)
        return False
    return True


async def begin_anew(work: Work, subscription: Subscription, day: date) -> None:
    """Money came after the period was over: the next one begins on that day (BIL-14).

    It is billed as every other, in a step of its own: what hinders that must not take back the
    money that was booked (BIL-31).
    """
    if _leaves(subscription):
        return
    subscription.anchor_date = subscription.period_end = day
    subscription.next_check_at = work.now
    await work.save(subscription)


async def _bill(
    work: Work,
    account: Account,
    subscription: Subscription,
    row: Renewal,
    period: Period,
    lines: list[invoices.DraftLine],
) -> None:
    subscription.period_start, subscription.period_end = period.start, period.end
    invoice = None
    if lines:
        invoice = await bill_for(work, account, subscription, lines, Purpose.RENEWAL)
    row.renewed_at, row.period_end = work.now, period.end
    row.invoice_id = invoice.id if invoice else None
    row.amount_minor = invoice.amount_due_minor if invoice else 0
    await work.save(row)
    await subscription_moves.plan_next(work, subscription)
    await work.save(subscription)
    await subscription_moves.tell(work, subscription, "renewed")
    if invoice is not None:
        await charge(work, account, invoice, subscription)
    await usage_charges.billed(work, lines)  # which follows what is held from now on


async def bill_for(
    work: Work,
    account: Account,
    subscription: Subscription,
    lines: list[invoices.DraftLine],
    purpose: Purpose,
) -> Invoice:
    """An invoice of these lines, on its way to its number; credit pays first."""
    total = Money(sum(line.gross.minor for line in lines), account.currency)
    credit = await upcoming.credit_for(work, account, total)
    invoice = await invoices.draft(
        work,
        account,
        purpose=purpose,
        lines=lines,
        subscription_id=subscription.id,
        planned_credit=credit,
    )
    await invoices.release(work, invoice)
    return invoice


async def charge(
    work: Work, account: Account, invoice: Invoice, subscription: Subscription
) -> None:
    """Charge what credit does not cover to the method on file; without one it has failed."""
    if invoice.amount_due_minor == 0 or account.collection_method is CollectionMethod.SEND_INVOICE:
        return
    method_id = await method_for(work, subscription)
    hindered = await hindrance(work, method_id, invoice)
    if hindered is not None:
        declined = FailureKind.DECLINED
        await failures.begin(work, invoice, subscription, kind=declined, category=hindered)
        return
    how = How(payment_method_id=method_id)
    await payments.begin(work, account, invoice, how=how, initiated_by="system")


async def hindrance(
    read: Reader, method_id: UUID | None, invoice: Invoice
) -> FailureCategory | None:
    """Why nothing is charged at all: there is no method, or it was refused too often (BIL-42)."""
    if method_id is None:
        return FailureCategory.HARD
    allowed = await payments.next_allowed(read, method_id, invoice)
    return FailureCategory.SOFT if allowed > read.now else None


async def method_for(read: Reader, subscription: Subscription) -> UUID | None:
    """The method that a subscription is charged to: its own while it is good, or the account's."""
    method = await upcoming.method_of(read, subscription)
    return method.id if method else None


async def _row(work: Work, subscription: Subscription, first_day: date) -> Renewal:
    try:
        return await work.lock_by(Renewal, subscription_id=subscription.id, period_start=first_day)
    except NotFound:
        made = Renewal(
            organization_id=subscription.organization_id,
            subscription_id=subscription.id,
            period_start=first_day,
        )
        return await work.hold(await work.add(made))
