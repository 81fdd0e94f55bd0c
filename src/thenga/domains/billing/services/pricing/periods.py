"""Subscription periods in local days, counted from the anchor (BIL-6).

The end of a period is the first day after it. Days start at local midnight. These functions never
read the clock.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from dateutil.relativedelta import relativedelta

from thenga.domains.billing.tables import Interval, Subscription
from thenga.kernel.values.calendar import local_day, local_midnight

_MONTHS = {Interval.MONTH: 1, Interval.YEAR: 12}
_ADVERBS = {Interval.MONTH: "monthly", Interval.YEAR: "yearly"}


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` until before `end`."""

    start: date
    end: date

    @property
    def days(self) -> int:
        return (self.end - self.start).days

    @property
    def starts_at(self) -> datetime:
        return local_midnight(self.start)

    @property
    def ends_at(self) -> datetime:
        return local_midnight(self.end)

    def days_from(self, day: date) -> int:
        """How many days remain, starting with `day`."""
        if not self.start <= day <= self.end:
            raise ValueError(f"{day} is outside {self.start} to {self.end}")
        return (self.end - day).days


def start_of(anchor: date, interval: Interval, number: int) -> date:
    """The first day of a period: the anchor's day, or the last day of a shorter month."""
    start: date = anchor + relativedelta(months=number * _MONTHS[interval])
    return start


def period_number(anchor: date, interval: Interval, number: int) -> Period:
    """The period with this number. The first is 0."""
    return Period(start_of(anchor, interval, number), start_of(anchor, interval, number + 1))


def period_containing(anchor: date, interval: Interval, day: date) -> Period:
    """The period of a day. Days before the anchor have periods too."""
    months = (day.year - anchor.year) * 12 + day.month - anchor.month
    number = months // _MONTHS[interval]
    if start_of(anchor, interval, number) > day:
        number -= 1
    return period_number(anchor, interval, number)


def usage_month(anchor: date, day: date) -> Period:
    """The usage month of a day, which is monthly for yearly plans too."""
    return period_containing(anchor, Interval.MONTH, day)


def midnight_after_days(instant: datetime, days: int) -> datetime:
    """The local midnight after a number of full days, not counting the first day."""
    return local_midnight(local_day(instant) + timedelta(days=days + 1))


def renewal_notice_at(renews_on: date, days_before: int) -> datetime:
    """When the customer is notified of a renewal (BIL-14)."""
    return local_midnight(renews_on - timedelta(days=days_before))


def interval_adverb(interval: Interval) -> str:
    """The interval as invoices and refusals print it: `monthly` or `yearly`."""
    return _ADVERBS[interval]


def interval_of(subscription: Subscription) -> Interval:
    """The billing interval of a subscription that has periods."""
    if subscription.interval is None:
        raise LookupError(f"{subscription!r} has no interval")
    return Interval(subscription.interval)
