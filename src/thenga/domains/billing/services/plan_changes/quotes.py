"""Quotes: what a plan change does and costs. Nothing is written here (BIL-10 to 12)."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from thenga.domains.billing.services import catalogue, invoicing, ledger, pricing
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.invoicing import BilledLine, current_period
from thenga.domains.billing.services.pricing import Period, interval_of
from thenga.domains.billing.tables import (
    Interval,
    OfferedPlan,
    Subscription,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import RuleViolated
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money


class Effective(StrEnum):
    """When a plan change takes effect."""

    NOW = "now"
    PERIOD_END = "period_end"


class Direction(StrEnum):
    """Whether a change is an upgrade or a downgrade, by rank and then by price."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """A requested change. None leaves the choice to us."""

    plan_code: str
    interval: Interval | None = None
    effective: Effective | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """The old and the new plan, and when the change applies."""

    plan: OfferedPlan
    before: OfferedPlan
    held: Interval
    interval: Interval
    effective: Effective
    direction: Direction

    @property
    def restarts_periods(self) -> bool:
        """A new interval restarts the periods on the day of the change (BIL-12)."""
        return self.interval is not self.held


@dataclass(frozen=True, slots=True)
class Priced:
    """The amounts of both documents of a change, and the days they cover."""

    on: date
    period: Period  # the paid period after the change
    service: Period  # the days the charge covers
    full_days: int
    running: BilledLine | None  # the line that bills these days
    credit: Money
    charge: Money


@dataclass(frozen=True, slots=True)
class ChangeQuote:
    """The exact amounts of a change. Credit pays first."""

    change: Change
    priced: Priced
    balance: Money

    @property
    def credit_applied(self) -> Money:
        """The part of the charge that credit pays."""
        return min(self.priced.charge, self.priced.credit + self.balance)

    @property
    def due(self) -> Money:
        return self.priced.charge - self.credit_applied

    @property
    def kept_as_credit(self) -> Money:
        return self.priced.credit + self.balance - self.credit_applied


async def quote(read: Reader, subscription: Subscription, wanted: ChangeRequest) -> ChangeQuote:
    """Quote the requested change as of now."""
    today, held = local_day(read.now), interval_of(subscription)
    before = await current_plan(read, subscription)
    interval = wanted.interval or held
    plan, price = await _version_for_sale(read, before, wanted.plan_code, interval, today)
    same = (plan.plan_code, plan.plan_version) == (before.plan_code, before.plan_version)
    if same and interval is held:
        raise PlanNotAvailable(
            f"You already have the {plan.plan_code} plan. Choose another plan or interval.",
            planCode=plan.plan_code,
        )
    direction = direction_of(before, plan, held)
    effective = _effective(wanted, direction, changes=interval is not held)
    change = Change(plan, before, held, interval, effective, direction)
    balance = await ledger.free_credit(read, currency=price.currency)
    priced = await _priced(read, subscription, change, price, today)
    return ChangeQuote(change, priced, balance)


async def _priced(
    read: Reader, subscription: Subscription, change: Change, price: Money, today: date
) -> Priced:
    period = current_period(subscription)
    if change.effective is Effective.PERIOD_END:
        following = pricing.period_containing(_anchor(subscription), change.interval, period.end)
        nothing = Money(0, price.currency)
        return Priced(period.end, following, following, following.days, None, nothing, nothing)
    invoicing.check_period_running(period, today)
    rest = await invoicing.unused_time_of(read, subscription, today)
    credit = rest.credit(price.currency)
    if change.restarts_periods:
        following = pricing.period_number(today, change.interval, 0)
        return Priced(today, following, following, following.days, rest.running, credit, price)
    charge = rest.charge(price)
    return Priced(today, period, rest.left, rest.full_days, rest.running, credit, charge)


async def _version_for_sale(
    read: Reader, before: OfferedPlan, plan_code: str, interval: Interval, today: date
) -> tuple[OfferedPlan, Money]:
    """The version of the same kind on sale today, and its price."""
    plan = await catalogue.plan_on(read, plan_code, today)
    price = None if plan is None else catalogue.price_of(plan, interval)
    if plan is None or price is None or not plan.public or plan.kind is not before.kind:
        raise PlanNotAvailable(
            f"You cannot change from {before.plan_code} to {plan_code} with "
            f"{pricing.interval_adverb(interval)} billing. Choose from `GET /billing/plans`.",
            planCode=plan_code,
            interval=interval,
        )
    return plan, price


def direction_of(before: OfferedPlan, plan: OfferedPlan, interval: Interval) -> Direction:
    """Whether it is an upgrade or a downgrade at this interval."""
    nothing = Money(0, "ZAR")
    was = (before.rank, catalogue.price_of(before, interval) or nothing)
    becomes = (plan.rank, catalogue.price_of(plan, interval) or nothing)
    return Direction.DOWN if becomes < was else Direction.UP


def _effective(wanted: ChangeRequest, direction: Direction, *, changes: bool) -> Effective:
    if changes:
        if wanted.effective is Effective.PERIOD_END:
            raise RuleViolated(
                "A new interval starts a new period today. Send `effective: now`.",
                rule="interval-now",
            )
        return Effective.NOW
    usual = Effective.NOW if direction is Direction.UP else Effective.PERIOD_END
    return wanted.effective or usual


async def current_plan(read: Reader, subscription: Subscription) -> OfferedPlan:
    """The subscription's plan version, which always stays in the catalogue."""
    code, number = subscription.plan_code, subscription.plan_version
    found = await read.find(OfferedPlan, plan_code=code, plan_version=number)
    if found is None:
        raise LookupError(f"{code} {number} is not in the catalogue")
    return found


def _anchor(subscription: Subscription) -> date:
    if subscription.anchor_date is None:
        raise LookupError(f"{subscription!r} has no anchor")
    return subscription.anchor_date
