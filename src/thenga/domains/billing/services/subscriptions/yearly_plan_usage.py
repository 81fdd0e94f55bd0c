"""Usage of yearly plans, billed at the end of each usage month (BIL-23).

At the end of a period the renewal bills it.
"""

from datetime import date

from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import (
    access,
    accounts,
    customer,
    dunning,
    invoicing,
    pricing,
    usage,
)
from thenga.domains.billing.services.customer import TaxDataMissing
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.tables import Access, Account, Purpose, Subscription
from thenga.kernel.db.work import Work
from thenga.kernel.values.calendar import local_day

_REDUCED = (Access.READ_ONLY, Access.NONE)


async def bill_ended_months(work: Work, subscription: Subscription) -> None:
    """Bill ended usage months, each month end once. The row is locked."""
    ended = _ended(subscription, local_day(work.now))
    known = subscription.usage_billed_to
    if ended is None or (known is not None and ended.end <= known):
        return
    account = await work.lock(Account, subscription.account_id)
    failure = await access.earliest_failure(work, subscription.id)
    if account.parked or access.access_level(subscription, failure, work.now) in _REDUCED:
        return  # the next month end bills them
    try:
        await _bill(work, account, subscription, ended)
    except TaxDataMissing:
        await accounts.park(work, reason=customer.PARKED_FOR)


def _ended(subscription: Subscription, today: date) -> Period | None:
    """The last ended usage month, if it ended inside the paid period."""
    start, end, anchor = (
        subscription.period_start,
        subscription.period_end,
        subscription.anchor_date,
    )
    if start is None or end is None or anchor is None:
        return None
    if subscription.status not in SubscriptionLifecycle.RENEWING:
        return None
    running = pricing.usage_month(anchor, today)
    if not start < running.start < end:
        return None
    return pricing.usage_month(anchor, date.fromordinal(running.start.toordinal() - 1))


async def _bill(work: Work, account: Account, subscription: Subscription, ended: Period) -> None:
    lines = await usage.usage_lines(work, subscription, ended)
    invoice = None
    if lines:
        invoice = await invoicing.invoice_subscription(
            work, account, subscription, lines, Purpose.USAGE
        )
    subscription.usage_billed_to = ended.end
    await work.save(subscription)
    if invoice is not None:
        await dunning.collect_automatically(work, account, invoice, subscription)
    await usage.mark_billed(work, lines)
