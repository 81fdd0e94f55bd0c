"""The next invoice: its lines, credit and amount due (BIL-14)."""

from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import (
    access,
    catalogue,
    dunning,
    invoicing,
    ledger,
    payments,
    pricing,
    usage,
)
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.invoicing import DraftLine
from thenga.domains.billing.services.pricing import Period, interval_of
from thenga.domains.billing.tables import (
    Access,
    Account,
    CollectionMethod,
    FailureCategory,
    Interval,
    OfferedPlan,
    PaymentFailure,
    PaymentMethod,
    Renewal,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money


class RenewalState(StrEnum):
    """State of a renewal. `not_renewing` means cancelled, `failed` means in recovery."""

    UPCOMING = "upcoming"
    IN_PROGRESS = "in_progress"
    RENEWED = "renewed"
    FAILED = "failed"
    NOT_RENEWING = "not_renewing"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class NextInvoice:
    """The next invoice as of now."""

    period: Period
    plan: OfferedPlan
    interval: Interval
    lines: list[DraftLine]
    gross: Money
    credit: Money
    method: PaymentMethod | None
    sent: bool  # sent instead of charged

    @property
    def due(self) -> Money:
        return self.gross - self.credit

    @property
    def can_be_paid(self) -> bool:
        return self.sent or self.method is not None or not self.due


@dataclass(frozen=True, slots=True)
class RenewalForecast:
    """The next renewal: its state, its cost and its blockers."""

    subscription: Subscription
    state: RenewalState
    expected: NextInvoice | None
    last: Renewal | None
    next: Renewal | None
    blockers: list[str]


def renews(subscription: Subscription) -> bool:
    """Whether there is a next period to bill. An unpaid first charge has none yet."""
    live = subscription.status in SubscriptionLifecycle.PAID and subscription.cancel_at is None
    return live and subscription.period_end is not None and subscription.anchor_date is not None


async def next_invoice(read: Reader, subscription: Subscription) -> NextInvoice:
    """What the renewal at the end of the current period will bill."""
    renews_on = subscription.period_end
    if renews_on is None or subscription.anchor_date is None:
        raise LookupError(f"{subscription!r} has no period")
    account = await read.get(Account, subscription.account_id)
    code, number, interval = _planned(subscription)
    number = await catalogue.renewal_version(read, code, number, renews_on)
    period = pricing.period_containing(subscription.anchor_date, interval, renews_on)
    used_in = pricing.usage_month(subscription.anchor_date, renews_on - timedelta(days=1))
    lines = [
        *await invoicing.recurring_lines_for(read, subscription, code, number, interval, period),
        *await usage.usage_lines(read, subscription, used_in),
    ]
    gross = Money(sum(line.gross.minor for line in lines), account.currency)
    method = await payments.method_of(read, subscription)
    return NextInvoice(
        period=period,
        plan=await catalogue.plan_version(read, code, number),
        interval=interval,
        lines=lines,
        gross=gross,
        credit=await ledger.credit_for(read, account, gross),
        method=method,
        sent=account.collection_method is CollectionMethod.SEND_INVOICE
        or await dunning.is_sent(read, subscription, method.id if method else None),
    )


def _planned(subscription: Subscription) -> tuple[str, int, Interval]:
    """The plan to renew: that of a scheduled change, or the current one.

    An unpaid change expires at the renewal, and a scheduled one behind it counts again.
    """
    pending = subscription.change
    if pending is not None and not pending.is_scheduled:
        pending = pending.former
    if pending is not None and pending.is_scheduled:
        return pending.plan_code, pending.plan_version, pending.interval
    return subscription.plan_code, subscription.plan_version, interval_of(subscription)


async def forecast(
    read: Reader, subscription: Subscription, renewing: Subscription
) -> RenewalForecast:
    """The next renewal, from the current row and the row as its renewal will find it."""
    failure = await access.earliest_failure(read, subscription.id)
    last = await _row(read, subscription, subscription.period_start)
    following = await _row(read, subscription, renewing.period_end)
    wanted, blockers = None, []
    try:
        if renewing.period_end is not None and renewing.anchor_date is not None:
            wanted = await next_invoice(read, renewing)
    except PlanNotAvailable:
        blockers = ["price_missing"]
    state = await _state(read, subscription, last, failure)
    blockers += await _blockers(read, subscription, failure, wanted)
    return RenewalForecast(subscription, state, wanted, last, following, blockers)


async def _row(read: Reader, subscription: Subscription, day: date | None) -> Renewal | None:
    if day is None:
        return None
    return await read.find(Renewal, subscription_id=subscription.id, period_start=day)


async def _state(
    read: Reader,
    subscription: Subscription,
    last: Renewal | None,
    failure: PaymentFailure | None,
) -> RenewalState:
    if subscription.status is SubscriptionStatus.PAUSED:
        return RenewalState.PAUSED
    if (
        subscription.cancel_at is not None
        or subscription.status not in SubscriptionLifecycle.BILLED
    ):
        return RenewalState.NOT_RENEWING
    if failure is not None:
        return RenewalState.FAILED
    renews_on = subscription.period_end
    if renews_on is not None and local_midnight(renews_on) <= read.now:
        return RenewalState.IN_PROGRESS
    if last is not None and last.invoice_id is not None:
        if await payments.payment_in_progress(read, last.invoice_id) is not None:
            return RenewalState.IN_PROGRESS
        if last.renewed_at is not None and local_day(last.renewed_at) == local_day(read.now):
            return RenewalState.RENEWED
    return RenewalState.UPCOMING


async def _blockers(
    read: Reader,
    subscription: Subscription,
    failure: PaymentFailure | None,
    wanted: NextInvoice | None,
) -> list[str]:
    found = []
    if subscription.cancel_at is not None:
        found.append("cancelled")
    if subscription.status is SubscriptionStatus.PAUSED:
        found.append("paused")
    level = access.access_level(subscription, failure, read.now)
    if level in (Access.READ_ONLY, Access.NONE) and failure is not None:
        found.append("payment_overdue")
    if failure is not None and failure.category is FailureCategory.HARD:
        found.append("payment_method_refused")
    if wanted is not None and not wanted.can_be_paid:
        found.append("payment_method_missing")
    if wanted is not None and _expires_before(wanted):
        found.append("payment_method_expires")
    account = await read.get(Account, subscription.account_id)
    if account.parked is not None:
        found.append("account_parked")
    return found


def _expires_before(wanted: NextInvoice) -> bool:
    method = wanted.method
    if method is None or method.expires_on is None or not wanted.due:
        return False
    return method.expires_on < wanted.period.start
