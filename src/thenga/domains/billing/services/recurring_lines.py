"""The invoice line of a whole period of a plan (BIL-14)."""

from thenga.domains.billing.services import plans
from thenga.domains.billing.services.invoices import DraftLine
from thenga.domains.billing.services.periods import Period, interval_of
from thenga.domains.billing.services.plans import PlanNotAvailable
from thenga.domains.billing.tables import Interval, LineKind, Subscription
from thenga.kernel.db.reader import Reader


async def recurring(read: Reader, subscription: Subscription, period: Period) -> list[DraftLine]:
    """The line of a whole period; none where the plan is free."""
    interval = interval_of(subscription)
    code, number = subscription.plan_code, subscription.plan_version
    return await recurring_of(read, subscription, code, number, interval, period)


async def recurring_of(
    read: Reader,
    subscription: Subscription,
    code: str,
    number: int,
    interval: Interval,
    period: Period,
) -> list[DraftLine]:
    plan = await plans.plan_version(read, code, number)
    price = plans.price_of(plan, interval)
    if price is None:  # only a price of 0 is free
        raise PlanNotAvailable(f"{code} {number} has no price by the {interval}.", planCode=code)
    if not price:
        return []
    line = DraftLine(
        kind=LineKind.RECURRING,
        description=f"{plan.name}, by the {interval}",
        quantity=1,
        unit_price=price,
        gross=price,
        service=period,
        subscription_id=subscription.id,
        plan_code=code,
        plan_version=number,
        key=f"recurring:{subscription.id}:{period.start}",
    )
    return [line]
