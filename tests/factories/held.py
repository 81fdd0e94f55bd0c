"""Subscriptions that are held, paid lines, and what was used."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.factories import billing
from thenga.domains.billing.public import UsageEntry, UsageReceipt
from thenga.domains.billing.services.entitlements import current, grants
from thenga.domains.billing.services.invoicing import invoices
from thenga.domains.billing.services.invoicing.invoices import DraftLine
from thenga.domains.billing.services.pricing import periods
from thenga.domains.billing.services.pricing.periods import Period
from thenga.domains.billing.services.usage import recording
from thenga.domains.billing.tables import (
    Account,
    Book,
    Grant,
    Interval,
    Invoice,
    LineKind,
    PlanKind,
    Purpose,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

RUNS, SMS, SEATS = "intelligence.reasoning_runs", "notification.sms.segment", "identity.seats"


async def subscribed(
    host: Host,
    organization_id: UUID,
    plan_code: str = "starter",
    *,
    kind: PlanKind = PlanKind.BASE,
    interval: Interval = Interval.MONTH,
    anchor: date | None = None,
    **fields: Any,
) -> Subscription:
    """A plan that an organization holds, from today on unless said otherwise."""
    owner = await billing.account(host, organization_id, again=True)
    work = billing.working(host, organization_id)
    begun = anchor or local_day(work.now)
    period = periods.period_containing(begun, interval, local_day(work.now))
    made = await work.add(
        Subscription(
            organization_id=organization_id,
            account_id=owner.id,
            plan_code=plan_code,
            plan_version=1,
            kind=kind,
            interval=interval,
            status=fields.pop("status", SubscriptionStatus.ACTIVE),
            anchor_date=begun,
            period_start=period.start,
            period_end=period.end,
            **fields,
        )
    )
    await current.refresh(work, reason="made by a factory")
    await work.finish()
    return made


async def paid(
    host: Host, subscription: Subscription, price: str, span: Period | None = None
) -> Invoice:
    """The line that pays for the running period."""
    work = billing.working(host, subscription.organization_id)
    account = await work.lock_by(Account)
    assert subscription.period_start is not None
    assert subscription.period_end is not None
    days = span or Period(subscription.period_start, subscription.period_end)
    gross = Money.of(price)
    line = DraftLine(
        kind=LineKind.RECURRING,
        description=subscription.plan_code,
        quantity=1,
        unit_price=gross,
        gross=gross,
        service=days,
        subscription_id=subscription.id,
        plan_code=subscription.plan_code,
        plan_version=1,
        key=f"recurring:{subscription.id}:{days.start}",
    )
    made = await invoices.draft_invoice(
        work, account, purpose=Purpose.FIRST, lines=[line], subscription_id=subscription.id
    )
    await invoices.release_invoice(work, made)
    await work.finish()
    return made


async def used(
    host: Host,
    organization_id: UUID,
    entries: Sequence[UsageEntry],
    *,
    ahead: timedelta | None = None,
) -> UsageReceipt:
    """Usage as a service reports it."""
    work = billing.working(host, organization_id, ahead=ahead or timedelta(0))
    given = [
        recording.UsageEntry(e.meter, e.key, e.quantity, e.occurred_at, e.subject, e.operation)
        for e in entries
    ]
    try:
        made = await recording.record_usage(work, given)
        await work.finish()
        return made
    finally:
        await work.close()


def entry(
    meter: str = RUNS, key: str = "one", quantity: int = 1, *, at: datetime, **more: Any
) -> UsageEntry:
    return UsageEntry(meter=meter, key=key, quantity=quantity, occurred_at=at, **more)


async def told(host: Host, organization_id: UUID, kind: str) -> list[dict[str, Any]]:
    """The data of the events of a kind, in order."""
    async with host.engines.connection("billing", "billing_system") as connection:
        found = await connection.fetch(
            "SELECT envelope::jsonb -> 'data' AS data FROM billing.outbox "
            "WHERE organization_id = $1 AND envelope::jsonb ->> 'type' = $2 ORDER BY position",
            organization_id,
            f"billing.{kind}.v1",
        )
    return [row["data"] for row in found]


async def with_api_keys(host: Host, organization_id: UUID) -> None:
    """An organization that may have API keys, which the free plan does not include."""
    await granted(host, organization_id, "identity.api_access", True)


async def granted_once(host: Host, organization_id: UUID, entitlement: str) -> None:
    """Room for as many as a walk makes, granted by its first call alone."""
    work = billing.working(host, organization_id)
    known = await work.find(Grant, entitlement=entitlement)
    await work.close()
    if known is None:
        await granted(host, organization_id, entitlement, 1_000_000)


async def granted(host: Host, organization_id: UUID, entitlement: str, value: bool | int) -> None:
    """More than any plan has, whatever becomes of the plan meanwhile."""
    await billing.account(host, organization_id, again=True, book=Book.SANDBOX)
    work = billing.working(host, organization_id)
    ends = work.now + timedelta(days=3000)
    await grants.issue_grant(
        work, entitlement=entitlement, value=value, expires_at=ends, reason="made by a factory"
    )
    await work.finish()
