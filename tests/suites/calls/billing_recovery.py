"""Calls of renewals, failed payments and the conversion of trials."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from tests.factories import billing, paying
from tests.factories.identity import Person
from tests.suites.calls.sending import Maker, Sent
from thenga.domains.billing.services.dunning import failures
from thenga.domains.billing.services.invoicing import invoices
from thenga.domains.billing.services.invoicing.invoices import DraftLine
from thenga.domains.billing.services.pricing import periods
from thenga.domains.billing.tables import (
    Account,
    Attempt,
    Book,
    FailureCategory,
    FailureKind,
    Interval,
    LineKind,
    PlanKind,
    Purpose,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day
from thenga.kernel.values.money import Money

_PRICE = Money.of("299.00")


async def _opened(host: Host, organization_id: UUID) -> Account:
    return await billing.account(host, organization_id, again=True, book=Book.SANDBOX)


async def _held(work: Work, account: Account) -> Subscription:
    """An add-on that runs: there may be several beside each other, unlike a base."""
    today = local_day(work.now)
    period = periods.period_number(today, Interval.MONTH, 0)
    return await work.add(
        Subscription(
            organization_id=account.organization_id,
            account_id=account.id,
            plan_code="ai-boost",
            plan_version=1,
            kind=PlanKind.ADDON,
            interval=Interval.MONTH.value,
            status=SubscriptionStatus.ACTIVE,
            anchor_date=today,
            period_start=period.start,
            period_end=period.end,
            next_check_at=work.now + timedelta(days=20),
        )
    )


async def _failed(work: Work, account: Account) -> UUID:
    """A renewal that was declined a moment ago."""
    made = await _held(work, account)
    subscription = await work.lock(Subscription, made.id)
    period = periods.period_number(local_day(work.now), Interval.MONTH, 0)
    line = DraftLine(
        kind=LineKind.RECURRING,
        description="AI boost, monthly",
        quantity=1,
        unit_price=_PRICE,
        gross=_PRICE,
        service=period,
        subscription_id=subscription.id,
        plan_code="ai-boost",
        plan_version=1,
        key=f"recurring:{subscription.id}:{period.start}",
    )
    invoice = await invoices.draft_invoice(
        work,
        account,
        purpose=Purpose.RENEWAL,
        lines=[line],
        subscription_id=subscription.id,
    )
    await invoices.release_invoice(work, invoice)
    failure = await failures.open_failure(
        *(work, invoice, subscription),
        kind=FailureKind.DECLINED,
        category=FailureCategory.SOFT,
        attempt=Attempt(at=work.now, payment_id=uuid4()),
    )
    return failure.id


def _with(make: Any, name: str | None, *, by_card: bool = False) -> Maker:
    """On something that is made for the call, in an organization that the header names."""

    async def sent(host: Host, who: Person, organization_id: UUID) -> Sent:
        account = await _opened(host, organization_id)
        card = await paying.card(host, account, preferred=False)
        work = billing.working(host, organization_id)
        try:
            made = await make(work, account)
            await work.finish()
        finally:
            await work.close()
        ids = {} if name is None else {name: made if isinstance(made, UUID) else made.id}
        named = {"X-Organization-Id": str(organization_id)}
        if not by_card:
            return Sent(ids, headers=named)
        return Sent(
            ids | {"method": card.id}, lambda ids: {"paymentMethodId": str(ids["method"])}, named
        )

    return sent


async def _converting(host: Host, who: Person, organization_id: UUID) -> Sent:
    account = await _opened(host, organization_id)
    card = await paying.card(host, account, preferred=False)
    trial = await billing.running_trial(host, organization_id)
    rest = {"interval": "month", "when": "trial_end"}
    return Sent(
        {"trialId": trial.id, "method": card.id},
        lambda ids: {"paymentMethodId": str(ids["method"]), **rest},
        {"X-Organization-Id": str(organization_id)},
    )


async def _clock(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _opened(host, organization_id)
    return Sent(headers={"X-Organization-Id": str(organization_id)})


async def _advancing(host: Host, who: Person, organization_id: UUID) -> Sent:
    await _opened(host, organization_id)
    to = host.now() + timedelta(days=30, seconds=uuid4().int % 1000)
    body = {"to": to.isoformat()}
    return Sent({}, lambda _: body, {"X-Organization-Id": str(organization_id)})


MAKERS: dict[str, Maker] = {
    "list_payment_failures": _with(_failed, None),
    "get_payment_failure": _with(_failed, "failureId"),
    "retry_payment": _with(_failed, "failureId", by_card=True),
    "get_renewal": _with(_held, "subscriptionId"),
    "get_upcoming_invoice": _with(_held, "subscriptionId"),
    "convert_trial": _converting,
    "get_test_clock": _clock,
    "advance_test_clock": _advancing,
}
