"""The days of a subscription that invoice lines bill. No day is billed twice (BIL-48)."""

from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.services.pricing import Period
from thenga.domains.billing.tables import BilledSpan, InvoiceLine
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.values.money import Money


@dataclass(frozen=True, slots=True)
class BilledLine:
    """The line that bills a day: its days, and its gross less credits."""

    invoice_id: UUID
    line_id: UUID
    gross: Money
    span: Period


async def record_billed_period(
    work: Work, line_id: UUID, *, subscription_id: UUID, span: Period
) -> None:
    """Record the days a line bills. The database refuses a day that is already billed."""
    await work.add(
        BilledSpan(
            organization_id=work.organization_id,
            subscription_id=subscription_id,
            line_id=line_id,
            starts_on=span.start,
            ends_on=span.end,
        )
    )


async def shorten_billed_period(work: Work, line_id: UUID, *, at: date) -> int:
    """End the billed days of a line at a day, and return how many were removed."""
    taken = 0
    for known in await of_line(work, line_id):
        if known.ends_on > at:
            span = await work.hold(known)
            kept = max(span.starts_on, at)
            taken += (span.ends_on - kept).days
            span.ends_on = kept
            await work.save(span)
    return taken


async def of_line(read: Reader, line_id: UUID) -> list[BilledSpan]:
    """The billed spans of a line, earliest first. A pause splits them in two."""
    statement = select(BilledSpan).where(BilledSpan.line_id == line_id)
    return await read.all(statement.order_by(BilledSpan.starts_on), limit=100)


async def running_line(
    read: Reader, subscription_id: UUID, day: date, *, currency: str = "ZAR"
) -> BilledLine | None:
    """The line that bills a day, or None."""
    covering = select(BilledSpan).where(
        BilledSpan.subscription_id == subscription_id,
        BilledSpan.starts_on <= day,
        BilledSpan.ends_on > day,
    )
    found = await read.all(covering, limit=1)
    if not found:
        return None
    line = await read.get(InvoiceLine, found[0].line_id)
    days = sum((part.ends_on - part.starts_on).days for part in await of_line(read, line.id))
    # A pause split the days. They are returned as one span that ends here, so that a day costs
    # the same as before and is rounded once.
    ends = found[0].ends_on
    left = Money(line.gross_minor - line.credited_minor, currency)
    span = Period(ends - timedelta(days=days), ends)
    return BilledLine(line.invoice_id, line.id, left, span)
