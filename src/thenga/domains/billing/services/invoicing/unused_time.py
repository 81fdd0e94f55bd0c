"""The unused part of the paid period, and what it costs on another plan (BIL-10).

Previews, changes and remedies all use these functions.
"""

from dataclasses import dataclass
from datetime import date

from sqlalchemy import select

from thenga.domains.billing.services import pricing
from thenga.domains.billing.services.invoicing import billed_periods
from thenga.domains.billing.services.invoicing.billed_periods import BilledLine
from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.tables import Pause, Subscription
from thenga.kernel.db.reader import Reader
from thenga.kernel.errors import Conflict
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class UnusedTime:
    """The remaining days, starting today. The day of a change belongs to the new plan."""

    left: Period
    full_days: int
    running: BilledLine | None  # the line that bills these days

    def credit(self, currency: str) -> Money:
        """What was paid for the remaining days. Zero if nothing was billed."""
        line = self.running
        if line is None:
            return Money(0, currency)
        return pricing.prorate(line.gross, line.span.days_from(self.left.start), line.span.days)

    def charge(self, price: Money) -> Money:
        """The cost of the remaining days at a full period's price."""
        return pricing.prorate(price, self.left.days, self.full_days)


async def unused_time_of(read: Reader, subscription: Subscription, today: date) -> UnusedTime:
    """The unused time of the current period."""
    period = current_period(subscription)
    return UnusedTime(
        left=Period(today, period.end),
        full_days=await full_period_days(read, subscription, period),
        running=await billed_periods.running_line(read, subscription.id, today),
    )


def current_period(subscription: Subscription) -> Period:
    """The paid period. Every active subscription has one."""
    if subscription.period_start is None or subscription.period_end is None:
        raise LookupError(f"{subscription!r} has no period")
    return Period(subscription.period_start, subscription.period_end)


def check_period_running(period: Period, today: date) -> None:
    """Refuse a change between the end of a period and its renewal, which follows shortly."""
    if period.end <= today:
        raise Conflict("The next period is being billed. Try again in a few minutes.")


async def full_period_days(read: Reader, subscription: Subscription, period: Period) -> int:
    """The days of the full period, or of the original one if a pause split it."""
    # A cancelled yearly period can end on the same day as this month.
    interrupted = select(Pause).where(
        Pause.subscription_id == subscription.id,
        Pause.continued_to == period.end,
        Pause.resumed_on >= period.start,
    )
    for pause in await read.all(interrupted.order_by(Pause.id.desc()), limit=1):
        return pause.period_days
    return period.days
