"""What is left of the period that is paid, and what the days left cost on another plan (BIL-10).

A preview, the change itself and the price that a refusal names are all computed here.
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
    """The days left, today the first of them; the day of a change belongs to the new plan."""

    left: Period
    full_days: int
    running: BilledLine | None  # what was paid for these days

    def credit(self, currency: str) -> Money:
        """What the days left of the running line were paid; nothing where nothing was billed."""
        line = self.running
        if line is None:
            return Money(0, currency)
        return pricing.prorate(line.gross, line.span.days_from(self.left.start), line.span.days)

    def charge(self, price: Money) -> Money:
        """What the days left cost at the price of a full period."""
        return pricing.prorate(price, self.left.days, self.full_days)


async def unused_time_of(read: Reader, subscription: Subscription, today: date) -> UnusedTime:
    """What is left today of a period that is not over."""
    period = current_period(subscription)
    return UnusedTime(
        left=Period(today, period.end),
        full_days=await full_period_days(read, subscription, period),
        running=await billed_periods.running_line(read, subscription.id, today),
    )


def current_period(subscription: Subscription) -> Period:
    """The period that is paid; one that lives has one."""
    if subscription.period_start is None or subscription.period_end is None:
        raise LookupError(f"{subscription!r} has no period")
    return Period(subscription.period_start, subscription.period_end)


def check_period_running(period: Period, today: date) -> None:
    """Between the end of a period and its renewal, which is a moment, no days are left."""
    if period.end <= today:
        raise Conflict("The next period is just being billed; ask again in a moment.")


async def full_period_days(read: Reader, subscription: Subscription, period: Period) -> int:
    """The days of the full period; of one that a pause interrupted, those it had before."""
    # A year that was interrupted and given up may have ended on the same day as this month does.
    interrupted = select(Pause).where(
        Pause.subscription_id == subscription.id,
        Pause.continued_to == period.end,
        Pause.resumed_on >= period.start,
    )
    for pause in await read.all(interrupted.order_by(Pause.id.desc()), limit=1):
        return pause.period_days
    return period.days
