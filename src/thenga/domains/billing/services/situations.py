"""What a remedy may look at: what is sold today, what is being paid, and what is owed (BIL-46)."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.services import (
    allocations,
    billed_spans,
    entitlement_types,
    plans,
    standing,
)
from thenga.domains.billing.services.periods import Period
from thenga.domains.billing.services.proration import RunningLine
from thenga.domains.billing.services.remedies import Offer, Owed, Paid, Situation
from thenga.domains.billing.tables import (
    FailureCategory,
    FailureKind,
    Interval,
    Invoice,
    InvoiceStatus,
    OfferedPlan,
    PlanKind,
    Subscription,
)
from thenga.kernel.calendar import local_day, local_midnight
from thenga.kernel.db.reader import Reader
from thenga.kernel.money import Money


async def of(read: Reader, subscription_id: UUID | None) -> Situation:
    """Looked at only where something is refused, so a yes costs nothing of this."""
    base = None if subscription_id is None else await read.get(Subscription, subscription_id)
    interval = Interval(base.interval) if base and base.interval else Interval.MONTH
    resumes = base.resume_on if base else None
    return Situation(
        today=local_day(read.now),
        offers=await _offers(read, interval),
        paid=None if base is None else await _paid(read, base),
        credit=await allocations.free_credit(read, currency="ZAR"),
        owed=None if base is None else await _owed(read, base),
        resumes_at=None if resumes is None else local_midnight(resumes),
    )


async def _paid(read: Reader, base: Subscription) -> Paid | None:
    """The line that pays for today, and the period that a change would be prorated in."""
    line = await billed_spans.running_line(read, base.id, local_day(read.now))
    if line is None or base.period_start is None or base.period_end is None:
        return None
    return Paid(RunningLine(line.gross, line.span), Period(base.period_start, base.period_end))


async def _owed(read: Reader, base: Subscription) -> Owed | None:
    """The oldest invoice of the plan that waits to be paid."""
    statement = select(Invoice).where(
        Invoice.subscription_id == base.id,
        Invoice.status == InvoiceStatus.OPEN,
        Invoice.amount_due_minor > 0,
    )
    found = await read.all(statement.order_by(Invoice.id), limit=1)
    if not found:
        return None
    failure = await standing.open_failure(read, base.id)
    if failure is not None and failure.kind is FailureKind.DISPUTED:
        return None  # no invoice that is paid brings back what a bank has taken
    usable = failure is None or failure.category is not FailureCategory.HARD
    return Owed(found[0].id, Money(found[0].amount_due_minor, found[0].currency), usable)


async def _offers(read: Reader, interval: Interval) -> list[Offer]:
    """The plans that anybody can buy today, at their price for the interval."""
    statement = select(OfferedPlan).where(
        OfferedPlan.public.is_(True),
        OfferedPlan.retired_at.is_(None),
        OfferedPlan.kind == PlanKind.BASE,
        *plans.sold_on(OfferedPlan, local_day(read.now)),
    )
    priced = [(one, plans.price_of(one, interval)) for one in await read.all(statement)]
    return [
        Offer(one.plan_code, price, entitlement_types.read(one.entitlements))
        for one, price in priced
        if price is not None
    ]
