"""The invoice line of a full plan period (BIL-14)."""

from datetime import date

from thenga.domains.billing.services import catalogue
from thenga.domains.billing.services.catalogue import PlanNotAvailable
from thenga.domains.billing.services.invoicing.invoices import DraftLine
from thenga.domains.billing.services.invoicing.lines import invoice_lines, plan_line_text
from thenga.domains.billing.services.pricing import (
    Period,
    interval_adverb,
    interval_of,
    period_number,
)
from thenga.domains.billing.tables import Interval, Invoice, LineKind, Subscription
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work


async def recurring_lines(
    read: Reader, subscription: Subscription, period: Period
) -> list[DraftLine]:
    """The line of a full period. None if the plan is free."""
    interval = interval_of(subscription)
    code, number = subscription.plan_code, subscription.plan_version
    return await recurring_lines_for(read, subscription, code, number, interval, period)


async def recurring_lines_for(
    read: Reader,
    subscription: Subscription,
    code: str,
    number: int,
    interval: Interval,
    period: Period,
) -> list[DraftLine]:
    """The same for any version and interval, such as those of a scheduled change."""
    plan = await catalogue.plan_version(read, code, number)
    price = catalogue.price_of(plan, interval)
    if price is None:  # only a price of 0 is free
        raise PlanNotAvailable(
            f"Version {number} of {code} is not sold with {interval_adverb(interval)} billing.",
            planCode=code,
        )
    if not price:
        return []
    line = DraftLine(
        kind=LineKind.RECURRING,
        description=plan_line_text(plan, interval),
        quantity=1,
        unit_price=price,
        gross=price,
        service=period,
        subscription_id=subscription.id,
        plan_code=code,
        plan_version=number,
        key=f"recurring:{subscription.id}:{period.start}",
    )
    return [line]


async def start_draft_on(
    work: Work, invoice: Invoice, subscription: Subscription, day: date
) -> None:
    """Move the full period that a draft bills, so that it starts on a day."""
    period = period_number(day, interval_of(subscription), 0)
    for known in await invoice_lines(work, invoice.id):
        if known.kind is LineKind.RECURRING:
            line = await work.hold(known)
            line.service_from, line.service_to = period.start, period.end
            line.key = f"recurring:{subscription.id}:{period.start}"
            await work.save(line)
