"""Renewals: bill the period that follows the paid one, once (BIL-14).

A renewal's key is the subscription and the first day, so it can run at any time and any number of
times. Credit pays first; the remainder is charged to the saved method.
"""

from datetime import date, datetime

from thenga.domains.billing import public, settings
from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import (
    access,
    accounts,
    customer,
    dunning,
    invoicing,
    plan_changes,
    pricing,
    subscription_state,
    usage,
)
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.customer import TaxDataMissing, recipient_of
from thenga.domains.billing.services.pricing import Period, interval_of
from thenga.domains.billing.services.subscriptions import upcoming_invoice
from thenga.domains.billing.services.subscriptions.upcoming_invoice import NextInvoice
from thenga.domains.billing.tables import (
    Access,
    Account,
    Purpose,
    Renewal,
    Subscription,
)
from thenga.kernel.db import configuration
from thenga.kernel.db.work import Work
from thenga.kernel.errors import NotFound
from thenga.kernel.values.calendar import local_midnight
from thenga.kernel.values.money import Money

_REDUCED = (Access.READ_ONLY, Access.NONE)


async def run_due_renewal_steps(work: Work, subscription: Subscription) -> None:
    """Announce a renewal, or make it on its day. The row is locked."""
    renews_on = subscription.period_end
    if not is_renewing(subscription) or renews_on is None:
        return
    if local_midnight(renews_on) <= work.now:
        await renew(work, subscription)
        return
    interval = interval_of(subscription)
    notice = await configuration.value(work, settings.RENEWAL_NOTICE)
    if pricing.renewal_notice_at(renews_on, notice.before(interval)) <= work.now:
        await _announce(work, subscription, renews_on)


def is_renewing(subscription: Subscription) -> bool:
    """Whether a next period follows. A trial whose first charge failed has none yet."""
    counted = subscription.anchor_date is not None
    return (
        counted
        and subscription.status in SubscriptionLifecycle.RENEWING
        and not subscription_state.ends_with_period(subscription)
    )


def is_renewal_due(subscription: Subscription, now: datetime) -> bool:
    """Whether the current period has ended."""
    renews_on = subscription.period_end
    behind = renews_on is not None and local_midnight(renews_on) <= now
    return behind and is_renewing(subscription)


async def _announce(work: Work, subscription: Subscription, renews_on: date) -> None:
    row = await _row(work, subscription, renews_on)
    if row.notice_sent_at is not None:
        return
    expected = await _next_invoice_or_park(work, subscription)
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
            remedy=None if expected.can_be_paid else _update_method_remedy(expected.due),
        )
    )
    customer.notify(work, customer.RENEWAL_DUE, row.id)


def _update_method_remedy(due: Money) -> public.RemedyTold:
    return public.RemedyTold(kind="update_method", invoice_id=None, amount=due)


async def renew(work: Work, subscription: Subscription) -> None:
    """Bill the next period, unless it is billed, too early, or access is reduced."""
    renews_on = subscription.period_end
    if renews_on is None or work.now < local_midnight(renews_on):
        return
    account = await work.lock(Account, subscription.account_id)
    failure = await access.earliest_failure(work, subscription.id)
    if account.parked or access.access_level(subscription, failure, work.now) in _REDUCED:
        return
    row = await _row(work, subscription, renews_on)
    if row.renewed_at is not None:
        return
    wanted = await _next_invoice_or_park(work, subscription)
    if wanted is None or not await _can_be_invoiced(work, account, wanted):
        return
    await plan_changes.apply_at_renewal(work, subscription, on=renews_on)
    await _bill(work, account, subscription, row, wanted.period, wanted.lines)


async def _next_invoice_or_park(work: Work, subscription: Subscription) -> NextInvoice | None:
    """The next invoice. If the plan has no price for the interval, park the account (BIL-51)."""
    try:
        return await upcoming_invoice.next_invoice(work, subscription)
    except PlanNotAvailable:
        await accounts.park(work, reason="price_missing")
        return None


async def _can_be_invoiced(work: Work, account: Account, wanted: NextInvoice) -> bool:
    """Whether an invoice can be issued. Checked before anything changes, so that the same period
    and plan are billed later (BIL-26, BIL-51)."""
    try:
        if wanted.lines:
            recipient_of(account, wanted.gross)
    except TaxDataMissing:
        await accounts.park(work, reason=customer.PARKED_FOR)
        return False
    return True


async def _bill(
    work: Work,
    account: Account,
    subscription: Subscription,
    row: Renewal,
    period: Period,
    lines: list[invoicing.DraftLine],
) -> None:
    subscription.period_start, subscription.period_end = period.start, period.end
    invoice = None
    if lines:
        invoice = await invoicing.invoice_subscription(
            work, account, subscription, lines, Purpose.RENEWAL
        )
    row.renewed_at, row.period_end = work.now, period.end
    row.invoice_id = invoice.id if invoice else None
    row.amount_minor = invoice.amount_due_minor if invoice else 0
    await work.save(row)
    await subscription_state.schedule_next_check(work, subscription)
    await work.save(subscription)
    await subscription_state.publish_change(work, subscription, "renewed")
    if invoice is not None:
        await dunning.collect_automatically(work, account, invoice, subscription)
    await usage.mark_billed(work, lines)  # refreshes the entitlements of the new period


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
