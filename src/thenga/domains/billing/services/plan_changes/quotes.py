"""What a change of plan would do and cost, to the cent; nothing is written here (BIL-10 to 12)."""

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
    """From when another plan counts."""

    NOW = "now"
    PERIOD_END = "period_end"


class Direction(StrEnum):
    """By rank, then by price."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """What a customer asks for; None leaves the choice to us."""

    plan_code: str
    interval: Interval | None = None
    effective: Effective | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """From which plan to which, and when."""

    plan: OfferedPlan
    before: OfferedPlan
    held: Interval
    interval: Interval
    effective: Effective
    direction: Direction

    @property
    def begins_anew(self) -> bool:
        """Another interval counts its periods from the day of the change (BIL-12)."""
        return self.interval is not self.held


@dataclass(frozen=True, slots=True)
class Priced:
    """Both documents of a change, and the days they are for."""

    on: date
    period: Period  # the one that is paid once it has taken effect
    service: Period  # the days that the charge is for
    full_days: int
    running: BilledLine | None  # what was paid for these days
    credit: Money
    charge: Money


@dataclass(frozen=True, slots=True)
class ChangeQuote:
    """A change to the cent; what the account has to its credit pays first."""

    change: Change
    priced: Priced
    balance: Money

    @property
    def credit_applied(self) -> Money:
        """Of the credit of this change and of the account, what pays the charge."""
        return min(self.priced.charge, self.priced.credit + self.balance)

    @property
    def due(self) -> Money:
        return self.priced.charge - self.credit_applied

    @property
    def kept_as_credit(self) -> Money:
        return self.priced.credit + self.balance - self.credit_applied


async def quote(read: Reader, subscription: Subscription, wanted: ChangeRequest) -> ChangeQuote:
    """The change that is asked for, as it would be made now."""
    today, held = local_day(read.now), interval_of(subscription)
    before = await held_plan(read, subscription)
    interval = wanted.interval or held
    plan, price = await _to_be_had(read, before, wanted.plan_code, interval, today)
    same = (plan.plan_code, plan.plan_version) == (before.plan_code, before.plan_version)
    if same and interval is held:
        raise PlanNotAvailable(f"{plan.plan_code} is the plan you have.", planCode=plan.plan_code)
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
    if change.begins_anew:
        following = pricing.period_number(today, change.interval, 0)
        return Priced(today, following, following, following.days, rest.running, credit, price)
    charge = rest.charge(price)
    return Priced(today, period, rest.left, rest.full_days, rest.running, credit, charge)


async def _to_be_had(
    read: Reader, before: OfferedPlan, plan_code: str, interval: Interval, today: date
) -> tuple[OfferedPlan, Money]:
    """The version that is sold today, of the same kind, and its price in the interval."""
    plan = await catalogue.plan_on(read, plan_code, today)
    price = None if plan is None else catalogue.price_of(plan, interval)
    if plan is None or price is None or not plan.public or plan.kind is not before.kind:
        raise PlanNotAvailable(
            f"{plan_code} is not sold by the {interval}, or not in place of {before.plan_code}.",
            planCode=plan_code,
            interval=interval,
        )
    return plan, price


def direction_of(before: OfferedPlan, plan: OfferedPlan, interval: Interval) -> Direction:
    """Up or down, for whoever pays by this interval."""
    nothing = Money(0, "ZAR")
    was = (before.rank, catalogue.price_of(before, interval) or nothing)
    becomes = (plan.rank, catalogue.price_of(plan, interval) or nothing)
    return Direction.DOWN if becomes < was else Direction.UP


def _effective(wanted: ChangeRequest, direction: Direction, *, changes: bool) -> Effective:
    if changes:
        if wanted.effective is Effective.PERIOD_END:
            raise RuleViolated(
                "Another interval begins today with a full period of its own; ask for `now`.",
                rule="interval-now",
            )
        return Effective.NOW
    usual = Effective.NOW if direction is Direction.UP else Effective.PERIOD_END
    return wanted.effective or usual


async def held_plan(read: Reader, subscription: Subscription) -> OfferedPlan:
    """The version that is held; it stays in the catalogue for ever."""
    code, number = subscription.plan_code, subscription.plan_version
    found = await read.find(OfferedPlan, plan_code=code, plan_version=number)
    if found is None:
        raise LookupError(f"{code} {number} is not in the catalogue")
    return found


def _anchor(subscription: Subscription) -> date:
    if subscription.anchor_date is None:
        raise LookupError(f"{subscription!r} has no anchor")
    return subscription.anchor_date
