"""Buying a plan, and reading subscriptions as of now."""

from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select

from thenga.domains.billing.lifecycles import SubscriptionLifecycle
from thenga.domains.billing.services import (
    access,
    catalogue,
    customer,
    invoicing,
    ledger,
    payments,
    plan_changes,
    subscription_state,
    trials,
)
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.customer import TaxDataMissing
from thenga.domains.billing.services.invoicing import DraftLine
from thenga.domains.billing.services.payments import PaymentChoice
from thenga.domains.billing.services.pricing import interval_adverb, interval_of, period_number
from thenga.domains.billing.services.subscription_state import (
    UNPAID_FOR,
    activate,
    begin_periods,
    change_event,
    end_subscription,
    publish_change,
    schedule_next_check,
)
from thenga.domains.billing.services.subscriptions import cancellations, pauses
from thenga.domains.billing.tables import (
    Access,
    Account,
    AccountStatus,
    CollectionMethod,
    Interval,
    Invoice,
    LineKind,
    OfferedPlan,
    Payment,
    PlanKind,
    Purpose,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.paging import Paged, Slice
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.statements import among, where_given
from thenga.kernel.db.work import Work
from thenga.kernel.errors import Duplicate
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money

__all__ = [
    "CurrentSubscription",
    "Purchase",
    "activate",
    "as_of_now",
    "as_renewed",
    "begin_periods",
    "buy_plan",
    "change_event",
    "end_subscription",
    "interval_of",
    "list_subscriptions",
    "publish_change",
    "schedule_next_check",
]


@dataclass(frozen=True, slots=True)
class Purchase:
    """The result of a purchase. Without an invoice it is free; without a payment nothing is due
    now."""

    subscription: Subscription
    invoice: Invoice | None
    payment: Payment | None


async def buy_plan(
    work: Work, *, plan_code: str, interval: Interval, how: PaymentChoice
) -> Purchase:
    """Buy a plan. It starts when it is paid, or at once if nothing is due (BIL-15)."""
    plan, price = await _to_be_sold(work, plan_code, interval)
    account = await customer.lock_account(work)  # serializes concurrent purchases
    await _check_no_other_plan(work, plan)
    _check_billable(account)
    subscription = await _add(work, account, plan, interval, how)
    await publish_change(work, subscription, "created")
    invoice = await _draft(work, account, subscription, plan, price)
    if invoice is not None and _is_charged(account, invoice):
        payment = await payments.begin_payment(
            work, account, invoice, how=how, initiated_by="customer"
        )
        return Purchase(subscription, invoice, payment)
    if invoice is not None:
        await invoicing.release_invoice(work, invoice)
    begun = await work.lock(Subscription, subscription.id)
    await activate(work, begun, starts_on=local_day(work.now))
    return Purchase(begun, invoice, None)


def _is_charged(account: Account, invoice: Invoice) -> bool:
    """Whether it is charged now. With `send_invoice` it is paid later."""
    automatic = account.collection_method is CollectionMethod.AUTOMATIC
    return automatic and invoice.amount_due_minor > 0


async def _to_be_sold(
    read: Reader, plan_code: str, interval: Interval
) -> tuple[OfferedPlan, Money]:
    plan = await catalogue.plan_on(read, plan_code, local_day(read.now))
    price = None if plan is None else catalogue.price_of(plan, interval)
    if plan is None or price is None or not plan.public:
        raise PlanNotAvailable(
            f"The {plan_code} plan is not sold with {interval_adverb(interval)} billing. Choose "
            "from `GET /billing/plans`.",
            planCode=plan_code,
            interval=interval,
        )
    return plan, price


def _check_billable(account: Account) -> None:
    customer.check_open(account)
    customer.check_not_parked(account)
    if account.status is not AccountStatus.ACTIVE:
        raise TaxDataMissing("Add billing details first with `POST /billing/accounts`.")


async def _check_no_other_plan(work: Work, plan: OfferedPlan) -> None:
    """Refuse a second base plan. An unpaid sign-up is replaced (BIL-15)."""
    same = Subscription.kind == PlanKind.BASE
    if plan.kind is PlanKind.ADDON:
        same = Subscription.plan_code == plan.plan_code
    held = among(Subscription.status, SubscriptionLifecycle.HOLDING)
    known = select(Subscription).where(same, held)
    for found in await work.all(known.order_by(Subscription.id), limit=100):
        if found.status is SubscriptionStatus.TRIALING and found.trial_id is not None:
            for _ in range(2):  # its notice and its end, if both are due
                await trials.run_due_trial_steps(work, found.trial_id, replaced=True)
        subscription = await work.lock(Subscription, found.id)
        await subscription_state.expire_previous_signup(work, subscription)
        await cancellations.take_effect(work, subscription)
        if subscription.status in SubscriptionLifecycle.LIVE:
            raise Duplicate(
                "This organization already has this kind of plan. Change it instead.",
                existing={"domain": "billing", "type": "subscription", "id": str(found.id)},
            )


async def _add(
    work: Work, account: Account, plan: OfferedPlan, interval: Interval, how: PaymentChoice
) -> Subscription:
    first = period_number(local_day(work.now), interval, 0)
    return await work.add(
        Subscription(
            organization_id=account.organization_id,
            account_id=account.id,
            plan_code=plan.plan_code,
            plan_version=plan.plan_version,
            kind=plan.kind,
            interval=interval.value,
            status=SubscriptionStatus.INCOMPLETE,
            anchor_date=first.start,
            period_start=first.start,
            period_end=first.end,
            payment_method_id=how.payment_method_id,
            next_check_at=work.now + UNPAID_FOR,
        )
    )


async def _draft(
    work: Work, account: Account, subscription: Subscription, plan: OfferedPlan, price: Money
) -> Invoice | None:
    """The first invoice less credit. None for a free plan."""
    if not price:
        return None
    service = invoicing.current_period(subscription)
    line = DraftLine(
        kind=LineKind.RECURRING,
        description=invoicing.plan_line_text(plan, interval_of(subscription)),
        quantity=1,
        unit_price=price,
        gross=price,
        service=service,
        subscription_id=subscription.id,
        plan_code=plan.plan_code,
        plan_version=plan.plan_version,
        key=f"recurring:{subscription.id}:{service.start}",
    )
    balance = await ledger.free_credit(work, currency=price.currency)
    return await invoicing.draft_invoice(
        work,
        account,
        purpose=Purpose.FIRST,
        lines=[line],
        subscription_id=subscription.id,
        planned_credit=min(price, balance),
    )


@dataclass(frozen=True, slots=True)
class CurrentSubscription:
    """A subscription as of now, before the job has updated the row."""

    row: Subscription
    access: Access
    grace_ends_at: datetime | None


async def as_of_now(read: Reader, subscription: Subscription) -> CurrentSubscription:
    """The subscription with its dated changes: ended, expired or resumed by now."""
    row, failure = copy(subscription), await access.earliest_failure(read, subscription.id)
    over = access.ends_at(row, failure)
    if await subscription_state.is_signup_expired(read, row):
        row.status = SubscriptionStatus.INCOMPLETE_EXPIRED
    elif row.status in SubscriptionLifecycle.LIVE and over is not None and over <= read.now:
        row.status, row.ended_at, row.pending_change = SubscriptionStatus.ENDED, over, None
    elif (
        row.status is SubscriptionStatus.PAUSED
        and row.resume_on
        and local_midnight(row.resume_on) <= read.now
    ):
        row.status = SubscriptionStatus.ACTIVE
        pauses.apply_resume(row, row.resume_on)
    elif await plan_changes.is_change_expired(read, row):
        subscription_state.restore_former_change(row)
    elif row.change is not None:
        until = await subscription_state.change_ends_at(read, row)
        row.pending_change = replace(row.change, expires_at=until).to_row()
    grace = None
    if failure is not None:
        grace = access.grace_ends_at(failure)
    return CurrentSubscription(row, access.access_level(row, failure, read.now), grace)


def as_renewed(row: Subscription) -> Subscription:
    """The subscription as its renewal will find it, after an automatic resume (BIL-13)."""
    if row.status is not SubscriptionStatus.PAUSED or row.resume_on is None:
        return row
    going_on = copy(row)
    pauses.apply_resume(going_on, row.resume_on)
    return going_on


async def list_subscriptions(
    read: Reader,
    paged: Paged,
    *,
    status: SubscriptionStatus | None,
    plan_code: str | None,
    kind: PlanKind | None,
) -> Slice[Subscription]:
    """The organization's subscriptions, including ended ones."""
    statement = select(Subscription)
    statement = where_given(
        statement,
        (Subscription.status, status),
        (Subscription.plan_code, plan_code),
        (Subscription.kind, kind),
    )
    return await read.page(statement, paged)
