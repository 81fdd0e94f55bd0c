"""Periods of a subscription: local days, always counted from the anchor (BIL-6).

The end of a period is the first day that does not belong to it. Days become instants at local
midnight. Nothing here knows what time it is.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from dateutil.relativedelta import relativedelta

from thenga.domains.billing.tables import Interval, Subscription
from thenga.kernel.values.calendar import local_day, local_midnight

_MONTHS = {Interval.MONTH: 1, Interval.YEAR: 12}


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` to `end`, the end not counted."""

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
        """How many days are left when `day` is the first of them."""
        if not self.start <= day <= self.end:
            raise ValueError(f"{day} is outside {self.start} to {self.end}")
        return (self.end - day).days


def start_of(anchor: date, interval: Interval, number: int) -> date:
    """The first day of a period; the anchor's day, or the month's last where it has no such day."""
    start: date = anchor + relativedelta(months=number * _MONTHS[interval])
    return start


def period_number(anchor: date, interval: Interval, number: int) -> Period:
    """The period of that number; the first is 0."""
    return Period(start_of(anchor, interval, number), start_of(anchor, interval, number + 1))


def period_containing(anchor: date, interval: Interval, day: date) -> Period:
    """The period that a day belongs to; days before the anchor have periods as well."""
    months = (day.year - anchor.year) * 12 + day.month - anchor.month
    number = months // _MONTHS[interval]
    if start_of(anchor, interval, number) > day:
        number -= 1
    return period_number(anchor, interval, number)


def usage_month(anchor: date, day: date) -> Period:
    """The month in which usage of a day counts; monthly also where the plan is paid by year."""
    return period_containing(anchor, Interval.MONTH, day)


def midnight_after_days(instant: datetime, days: int) -> datetime:
    """The local midnight after so many whole days; the day it begins on is not one of them."""
    return local_midnight(local_day(instant) + timedelta(days=days + 1))


def renewal_notice_at(renews_on: date, days_before: int) -> datetime:
    """When a renewal is told, so many days before it (BIL-14)."""
    return local_midnight(renews_on - timedelta(days=days_before))


def interval_of(subscription: Subscription) -> Interval:
    """How it is paid; a subscription that has periods has one."""
    if subscription.interval is None:
        raise LookupError(f"{subscription!r} has no interval")
    return Interval(subscription.interval)
