"""Previews of a plan change, including usage above the new limits (BIL-24)."""

from dataclasses import dataclass

from thenga.domains.billing.services import catalogue, customer, invoicing, metering, pricing
from thenga.domains.billing.services.catalogue import Limit
from thenga.domains.billing.services.plan_changes import quotes, trial_switches
from thenga.domains.billing.services.plan_changes.changes import (
    check_changeable,
    check_day,
    check_expected,
    check_no_unpaid_change,
    check_settled,
)
from thenga.domains.billing.services.plan_changes.quotes import (
    ChangeQuote,
    ChangeRequest,
    Effective,
    Priced,
)
from thenga.domains.billing.services.pricing import Taxed
from thenga.domains.billing.tables import (
    STANDING,
    Account,
    Interval,
    Invoice,
    OfferedPlan,
    Subscription,
    SubscriptionStatus,
    Trial,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class Over:
    """A usage that exceeds the new plan's limit."""

    key: str
    held: int
    limit: int


@dataclass(frozen=True, slots=True)
class ChangePreview:
    """The exact amounts of a change, and its documents with their VAT (BIL-5)."""

    quoted: ChangeQuote
    interval: Interval | None  # None in a trial without a chosen interval
    credit_note: Taxed | None
    invoice: Taxed | None
    over: list[Over]


async def preview_change(
    read: Reader, subscription: Subscription, wanted: ChangeRequest, *, expected_due: Money | None
) -> ChangePreview:
    """What requesting this change now would do."""
    if subscription.status is SubscriptionStatus.TRIALING:
        trial = await read.get(Trial, trial_switches.trial_of(subscription))
        quoted = await trial_switches.quote(read, subscription, trial, wanted.plan_code)
        check_expected(quoted.due, expected_due)
        chosen = Interval(subscription.interval) if subscription.interval else None
        return await _shown(read, quoted, chosen)
    check_changeable(subscription)
    account = await read.get(Account, subscription.account_id)
    customer.check_not_parked(account)
    quoted = await quotes.quote(read, subscription, wanted)
    check_expected(quoted.due, expected_due)
    check_no_unpaid_change(subscription)
    if quoted.change.effective is Effective.NOW:
        await check_settled(read, account, quoted)
        check_day(subscription, quoted)
    return await _shown(read, quoted, quoted.change.interval)


async def _shown(read: Reader, quoted: ChangeQuote, interval: Interval | None) -> ChangePreview:
    charge, over = quoted.priced.charge, await _over(read, quoted.change.plan)
    note = await _credit_note(read, quoted.priced)
    if not charge:
        return ChangePreview(quoted, interval, note, None, over)
    invoice = pricing.split_vat(charge, await pricing.vat_rate_on(read, quoted.priced.on))
    return ChangePreview(quoted, interval, note, invoice, over)


async def _credit_note(read: Reader, priced: Priced) -> Taxed | None:
    if not priced.credit or priced.running is None:
        return None
    credited = await read.get(Invoice, priced.running.invoice_id)
    return invoicing.credit_note_vat(credited, priced.credit)


async def _over(read: Reader, plan: OfferedPlan) -> list[Over]:
    """Usage above a new limit stays readable. Only additions are refused."""
    totals = await metering.totals_of_month(read, STANDING)
    found = []
    for entitlement in catalogue.parse_entitlements(plan.entitlements):
        total = totals.get(entitlement.key)
        if not isinstance(entitlement, Limit) or entitlement.limit is None or total is None:
            continue
        if total.quantity > entitlement.limit:
            found.append(Over(entitlement.key, total.quantity, entitlement.limit))
    return found
