"""Revenue recognition: booked on the first of each month for the days before it (BIL-47)."""

from collections.abc import Sequence
from datetime import date, timedelta

from thenga.domains.billing.services import ledger
from thenga.domains.billing.services.invoicing.billed_periods import of_line
from thenga.domains.billing.services.invoicing.lines import invoice_lines
from thenga.domains.billing.services.ledger import EntrySource
from thenga.domains.billing.services.pricing import Period, prorate
from thenga.domains.billing.tables import (
    Invoice,
    InvoiceLine,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.money import Money

_A_DAY = timedelta(days=1)


async def recognize_revenue(work: Work, invoice: Invoice, month: date) -> bool:
    """Book revenue earned before `month`, and return whether some stays deferred."""
    earned = left = 0
    for known in await invoice_lines(work, invoice.id):
        line = await work.hold(known)
        now = await _to_earn(work, line, month, invoice.currency)
        line.earned_minor += now
        await work.save(line)
        earned += now
        left += _deferred(line)
    if earned:
        source = EntrySource("invoice", invoice.id, f"earning:{invoice.id}:{month:%Y-%m}")
        await ledger.post(
            work,
            ledger.revenue_booking(Money(earned, invoice.currency)),
            book=invoice.book,
            source=source,
            occurred_at=invoice.next_check_at or work.now,
        )
    return left > 0


def _deferred(line: InvoiceLine) -> int:
    return (line.net_minor or 0) - line.credited_net_minor - line.earned_minor


async def _to_earn(read: Reader, line: InvoiceLine, month: date, currency: str) -> int:
    spans = [Period(span.starts_on, span.ends_on) for span in await of_line(read, line.id)]
    if spans:
        month = min(month, await _served_until(read, line) or month)
    elif line.service_from is not None and line.service_to is not None:
        spans = [Period(line.service_from, line.service_to)]
    net = Money((line.net_minor or 0) - line.credited_net_minor, currency)
    due = earned_before(month, net, spans)
    return min(max(due.minor - line.earned_minor, 0), _deferred(line))


async def _served_until(read: Reader, line: InvoiceLine) -> date | None:
    """The day after a pause started. Banked days are earned after the resume (BIL-13)."""
    held = line.subscription_id and await read.find(Subscription, id=line.subscription_id)
    if not held or held.status is not SubscriptionStatus.PAUSED or held.paused_on is None:
        return None
    return held.paused_on + _A_DAY


def earned_before(month: date, net: Money, spans: Sequence[Period]) -> Money:
    """The revenue of billed days that were not credited."""
    days = sum(span.days for span in spans)
    over = sum(min(max((month - span.start).days, 0), span.days) for span in spans)
    return prorate(net, over, days) if days else net
