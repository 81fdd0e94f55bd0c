"""The days of a subscription that its lines pay for; no day is billed twice (BIL-48)."""

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
    """The line that pays for a day: what of its gross was not given back, and its days."""

    invoice_id: UUID
    line_id: UUID
    gross: Money
    span: Period


async def record_billed_period(
    work: Work, line_id: UUID, *, subscription_id: UUID, span: Period
) -> None:
    """A line pays for these days; a day that is paid for already is refused by the database."""
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
    """From this day on the line pays for nothing more; how many days were taken off."""
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
    """The spans of a line, the earliest first; a pause makes a second one."""
    statement = select(BilledSpan).where(BilledSpan.line_id == line_id)
    return await read.all(statement.order_by(BilledSpan.starts_on), limit=100)


async def running_line(
    read: Reader, subscription_id: UUID, day: date, *, currency: str = "ZAR"
) -> BilledLine | None:
    """The billed line that covers a day, or none."""
    covering = select(BilledSpan).where(
        BilledSpan.subscription_id == subscription_id,
        BilledSpan.starts_on <= day,
        BilledSpan.ends_on > day,
    )
    found = await read.all(covering, limit=1)
    if not found:
        return None
    line = await read.get(InvoiceLine, found[0].line_id)
    days = sum((one.ends_on - one.starts_on).days for one in await of_line(read, line.id))
    # A pause has parted its days: they are shown as if they had ended here in one piece, so that a
    # day costs the same as ever and is rounded once.
    ends = found[0].ends_on
    left = Money(line.gross_minor - line.credited_minor, currency)
    span = Period(ends - timedelta(days=days), ends)
    return BilledLine(line.invoice_id, line.id, left, span)
