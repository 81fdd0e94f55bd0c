"""Renewals: the period that starts where the paid one ends is billed, once (BIL-14).

Keyed by subscription and first day, so it does not matter when or how often it runs. Credit pays
first; the rest is charged to the method on file.
"""

from datetime import date, datetime, timedelta
from uuid import UUID

from thenga.domains.billing import public
from thenga.domains.billing.services import (
    configuration,
    failures,
    invoices,
    payments,
    periods,
    plan_changes,
    recovery_holds,
    standing,
    subscription_moves,
    telling,
    upcoming,
    usage_charges,
)
from thenga.domains.billing.services.invoices import TaxDataMissing
from thenga.domains.billing.services.payments import How
from thenga.domains.billing.services.periods import Period
from thenga.domains.billing.services.subscription_moves import interval_of
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
    expected = await upcoming.expected(work, subscription)
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
    await plan_changes.at_renewal(work, subscription, on=renews_on)
    ended = periods.usage_month(_anchor(subscription), renews_on - timedelta(days=1))
    interval = interval_of(subscription)
    period = periods.containing(_anchor(subscription), interval, renews_on)
    try:
        await _bill(work, account, subscription, row, period=period, used_in=ended)
    except TaxDataMissing:
        await wait_for_tax_data(work, account)


async def wait_for_tax_data(work: Work, account: Account) -> None:
    """Nothing is billed by itself until the account says who is billed (BIL-51)."""
    account.parked = {"reason": "tax_data_missing", "since": work.now.isoformat()}
    await work.save(account)
    await recovery_holds.hold(work)


async def begin_anew(work: Work, subscription: Subscription, day: date) -> None:
    """Money came after the period was over: a new one begins on that day (BIL-14)."""
    account = await work.lock(Account, subscription.account_id)
    row = await _row(work, subscription, day)
    if row.renewed_at is not None:
        return
    ended = periods.usage_month(_anchor(subscription), day - timedelta(days=1))
    subscription.anchor_date = day
    period = periods.numbered(day, interval_of(subscription), 0)
    await _bill(work, account, subscription, row, period=period, used_in=ended)


async def _bill(
    work: Work,
    account: Account,
    subscription: Subscription,
    row: Renewal,
    *,
    period: Period,
    used_in: Period,
) -> None:
    usage = await usage_charges.lines(work, subscription, used_in)
    lines = [*await upcoming.recurring(work, subscription, period), *usage]
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
    await usage_charges.billed(work, usage)  # which follows what is held from now on


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


def _anchor(subscription: Subscription) -> date:
    if subscription.anchor_date is None:
        raise LookupError(f"{subscription!r} has no anchor")
    return subscription.anchor_date
