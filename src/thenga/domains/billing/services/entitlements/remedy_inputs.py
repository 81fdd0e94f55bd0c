"""Reads what a remedy depends on: offers, the paid period and the amount due (BIL-46)."""

from uuid import UUID

from sqlalchemy import select

from thenga.domains.billing.services import access, catalogue, invoicing, ledger
from thenga.domains.billing.services.entitlements import sources as entitlement_sources
from thenga.domains.billing.services.entitlements.merging import Contribution, Source
from thenga.domains.billing.services.entitlements.remedies import Offer, Owed, RemedyInputs
from thenga.domains.billing.services.invoicing import UnusedTime
from thenga.domains.billing.tables import (
    FailureCategory,
    FailureKind,
    Interval,
    Invoice,
    InvoiceStatus,
    OfferedPlan,
    PlanKind,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.reader import Reader
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money

_BESIDE = (Source.ADDON, Source.GRANT)


async def gather(read: Reader, subscription_id: UUID | None, *, capped: bool) -> RemedyInputs:
    """Read the inputs. Called only after a refusal, so an allowed use does not pay for it."""
    base = None if subscription_id is None else await read.get(Subscription, subscription_id)
    interval = Interval(base.interval) if base and base.interval else Interval.MONTH
    resumes = base.resume_on if base else None
    tries = base is not None and base.status is SubscriptionStatus.TRIALING
    return RemedyInputs(
        offers=await _offers(read, interval, tries=tries),
        beside=await _beside(read),
        capped=capped,
        remaining=None if base is None else await _remaining(read, base),
        tries=tries,
        credit=await ledger.free_credit(read, currency="ZAR"),
        owed=None if base is None else await _owed(read, base),
        resumes_at=None if resumes is None else local_midnight(resumes),
    )


async def _remaining(read: Reader, base: Subscription) -> UnusedTime | None:
    """The unused time that a change would prorate. None before payment and after the end."""
    today = local_day(read.now)
    if (
        base.status is SubscriptionStatus.TRIALING
        or base.period_end is None
        or base.period_end <= today
    ):
        return None
    return await invoicing.unused_time_of(read, base, today)


async def _beside(read: Reader) -> list[Contribution]:
    """Add-ons and grants, which remain with another plan."""
    sources = await entitlement_sources.of(read)
    given = [] if sources is None else sources.contributions
    return [
        contribution
        for contribution in given
        if contribution.source in _BESIDE and contribution.counts(read.now)
    ]


async def _owed(read: Reader, base: Subscription) -> Owed | None:
    """The oldest unpaid invoice of the plan."""
    statement = select(Invoice).where(
        Invoice.subscription_id == base.id,
        Invoice.status == InvoiceStatus.OPEN,
        Invoice.amount_due_minor > 0,
    )
    found = await read.all(statement.order_by(Invoice.id), limit=1)
    if not found:
        return None
    failure = await access.earliest_failure(read, base.id)
    if failure is not None and failure.kind is FailureKind.DISPUTED:
        return None  # paying an invoice does not undo a lost dispute
    usable = failure is None or failure.category is not FailureCategory.HARD
    return Owed(found[0].id, Money(found[0].amount_due_minor, found[0].currency), usable)


async def _offers(read: Reader, interval: Interval, *, tries: bool) -> list[Offer]:
    """The plans on sale today with a price for the interval; in a trial only eligible ones."""
    statement = select(OfferedPlan).where(
        OfferedPlan.public.is_(True),
        OfferedPlan.retired_at.is_(None),
        OfferedPlan.kind == PlanKind.BASE,
        *catalogue.is_sold_on(OfferedPlan, local_day(read.now)),
    )
    priced = [(plan, catalogue.price_of(plan, interval)) for plan in await read.all(statement)]
    return [
        Offer(plan.plan_code, price, catalogue.parse_entitlements(plan.entitlements))
        for plan, price in priced
        if price is not None and (plan.trial_eligible or not tries)
    ]
