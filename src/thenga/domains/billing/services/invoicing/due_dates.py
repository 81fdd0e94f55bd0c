"""The scheduled dates of an issued invoice: month ends and its due date (BIL-39, BIL-47)."""

from datetime import date, datetime, timedelta

from dateutil.relativedelta import relativedelta

from thenga.domains.billing.tables import Invoice
from thenga.kernel.values.calendar import local_day, local_midnight

_HOUR = timedelta(hours=1)  # after midnight on the first of a month
_A_DAY = timedelta(days=1)


def next_booking(day: date) -> datetime:
    """The first of the next month, when the days before it are booked."""
    first: date = day.replace(day=1) + relativedelta(months=1)
    return local_midnight(first) + _HOUR


def is_revenue_date(at: datetime) -> bool:
    """Whether revenue of a month is booked at this instant."""
    first = local_day(at)
    return first.day == 1 and at == local_midnight(first) + _HOUR


def overdue_at(invoice: Invoice) -> datetime | None:
    """When a sent invoice becomes overdue. None for an invoice that is charged."""
    issued, due = invoice.issue_date, invoice.due_date
    if issued is None or due is None or due <= issued:
        return None
    return local_midnight(due + _A_DAY)


def next_invoice_check(invoice: Invoice, day: date, *, deferred: bool = True) -> datetime | None:
    """The next of these instants after `day` has begun, or None."""
    late = overdue_at(invoice)
    known = [late] if late is not None and late > local_midnight(day) else []
    if deferred:
        known.append(next_booking(day))
    return min(known, default=None)
