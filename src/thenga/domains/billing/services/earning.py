"""Revenue is earned by days, cumulatively, so that rounding never adds up (BIL-47)."""

from datetime import date, datetime, timedelta

from dateutil.relativedelta import relativedelta

from thenga.domains.billing.services.periods import Period
from thenga.domains.billing.services.proration import part
from thenga.kernel.calendar import local_midnight
from thenga.kernel.money import Money

_HOUR = timedelta(hours=1)  # after midnight on the first of a month


def earned_by(net: Money, service: Period, day: date) -> Money:
    """What of a net sum is earned when `day` begins."""
    over = min(max((day - service.start).days, 0), service.days)
    return part(net, over, service.days) if service.days else net


def to_earn(net: Money, service: Period, day: date, *, earned: Money) -> Money:
    """What a month's end still has to book, given what was booked before."""
    return earned_by(net, service, day) - earned


def next_booking(day: date) -> datetime:
    """The first of the next month, when the days before it are booked."""
    first: date = day.replace(day=1) + relativedelta(months=1)
    return local_midnight(first) + _HOUR
