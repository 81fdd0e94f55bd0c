"""Usage above the included: priced once a meter and month, capped where asked."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.factories import billing, held
from tests.factories import identity as people
from tests.factories.held import RUNS, SMS
from thenga.domains.billing.services.entitlements import current
from thenga.domains.billing.services.invoicing.invoices import DraftLine
from thenga.domains.billing.services.metering import months
from thenga.domains.billing.services.pricing import periods
from thenga.domains.billing.services.usage import charges
from thenga.domains.billing.tables import Interval, Subscription
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money

API, TUTOR = "api.requests", "learning.tutor_messages"


@pytest.fixture
async def organization_id(host: Host, seeded: None) -> UUID:
    return uuid4()


def begun(host: Host) -> date:
    """An anchor ten days ago: the running month has twenty days or so left."""
    return local_day(host.now()) - timedelta(days=10)


def over(host: Host, anchor: date) -> timedelta:
    """How far ahead the month that runs now is over."""
    month = periods.usage_month(anchor, local_day(host.now()))
    return local_midnight(month.end) - host.now() + timedelta(hours=1)


async def charged(
    host: Host, subscription: Subscription, ahead: timedelta, *, bill: bool = True
) -> list[DraftLine]:
    """The lines at the boundary, remembered as billed."""
    anchor = subscription.anchor_date
    assert anchor is not None
    month = periods.usage_month(anchor, local_day(host.now()))
    work = billing.working(host, subscription.organization_id, ahead=ahead)
    lines = await charges.usage_lines(work, subscription, month)
    if bill:
        await charges.mark_billed(work, lines)
    await work.finish()
    return lines


@pytest.mark.rule("BIL-23")
async def test_overage_is_billed_once_at_the_boundary(host: Host, organization_id: UUID):
    """37 x 1.50 = 55.50."""
    plan = await held.subscribed(host, organization_id, "professional", anchor=begun(host))
    at = host.now()
    used = [held.entry(quantity=537, at=at), held.entry(SMS, quantity=250, at=at)]
    await held.used(host, organization_id, used)
    ahead = over(host, begun(host))

    (line,) = await charged(host, plan, ahead)
    again = await charged(host, plan, ahead)

    print(f"{line.quantity} x {line.unit_rate} = {line.gross.amount} again={len(again)}")
    assert (line.kind, line.quantity, line.gross) == ("usage", 37, Money.of("55.50"))
    assert line.key == f"usage:{RUNS}:{begun(host)}:0"
    assert again == []


@pytest.mark.rule("BIL-23")
async def test_a_unit_may_cost_less_than_a_cent(host: Host, organization_id: UUID):
    """12 345 x 0.004 = 49.38."""
    plan = await held.subscribed(host, organization_id, "enterprise", anchor=begun(host))
    await held.used(host, organization_id, [held.entry(API, quantity=1_012_345, at=host.now())])

    (line,) = await charged(host, plan, over(host, begun(host)))

    print(f"{line.quantity} x {line.unit_rate} = {line.gross.amount}")
    assert (line.quantity, line.gross) == (12_345, Money.of("49.38"))


@pytest.mark.rule("BIL-20")
async def test_what_comes_late_is_billed_on_the_next_invoice(host: Host, organization_id: UUID):
    plan = await held.subscribed(host, organization_id, "professional", anchor=begun(host))
    at, ahead = host.now(), over(host, begun(host))
    await held.used(host, organization_id, [held.entry(quantity=537, at=at)])
    await charged(host, plan, ahead)

    late = [held.entry(key="late", quantity=3, at=at)]
    said = await held.used(host, organization_id, late, ahead=ahead)
    (line,) = await charged(host, plan, ahead)

    assert said.items[0].late
    assert (line.kind, line.quantity, line.gross) == ("late_usage", 3, Money.of("4.50"))
    assert line.key == f"usage:{RUNS}:{begun(host)}:37"


@pytest.mark.rule("BIL-23")
async def test_a_little_waits_where_nothing_renews(host: Host, organization_id: UUID):
    """Below 20.00 a yearly plan has no invoice of its own for it; the next month takes both."""
    anchor = begun(host)
    plan = await held.subscribed(
        host, organization_id, "professional", anchor=anchor, interval=Interval.YEAR
    )
    await held.used(host, organization_id, [held.entry(quantity=510, at=host.now())])
    ahead = over(host, anchor)

    waits = await charged(host, plan, ahead)
    more = [held.entry(key="next", quantity=505, at=host.now() + ahead)]
    await held.used(host, organization_id, more, ahead=ahead)
    next_month = periods.usage_month(anchor, local_day(host.now() + ahead))
    later = local_midnight(next_month.end) - host.now() + timedelta(hours=1)
    work = billing.working(host, organization_id, ahead=later)
    lines = await charges.usage_lines(work, plan, next_month)
    await work.close()

    assert waits == []
    assert [(one.kind, one.quantity) for one in lines] == [("usage", 10), ("usage", 5)]
    assert sum(one.gross.minor for one in lines) == 2250


@pytest.mark.rule("BIL-23")
async def test_a_month_is_billed_by_the_plan_that_it_ended_with(host: Host, organization_id: UUID):
    anchor, ahead = begun(host), over(host, begun(host))
    plan = await held.subscribed(host, organization_id, "professional", anchor=anchor)
    await held.used(host, organization_id, [held.entry(quantity=537, at=host.now())])

    work = billing.working(host, organization_id, ahead=ahead)
    held_plan = await work.lock(Subscription, plan.id)
    held_plan.plan_code = "enterprise"
    await work.save(held_plan)
    await current.refresh(work, reason="plan_changed")
    await work.finish()
    (line,) = await charged(host, plan, ahead)

    assert (line.quantity, line.gross) == (37, Money.of("55.50"))


async def test_a_planted_bill_that_is_not_remembered_would_be_found(
    host: Host, organization_id: UUID
):
    plan = await held.subscribed(host, organization_id, "professional", anchor=begun(host))
    await held.used(host, organization_id, [held.entry(quantity=537, at=host.now())])
    ahead = over(host, begun(host))

    first = await charged(host, plan, ahead, bill=False)

    assert await charged(host, plan, ahead) == first != []


@pytest.mark.rule("BIL-23")
async def test_at_the_spend_cap_a_soft_limit_is_hard(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    who = await people.member(host, uuid4(), role="owner")
    await held.subscribed(host, who.organization_id, "professional")
    account = (await api.get("/billing/accounts", headers=who.acting)).json()["items"][0]

    async def cap(amount: dict[str, str] | None, version: int) -> httpx2.Response:
        return await api.patch(
            f"/billing/accounts/{account['id']}",
            json={"spendCap": amount},
            headers=who.acting | {"If-Match": f'"{version}"'},
        )

    async def ask() -> dict[str, Any]:
        found = await api.get(f"/billing/signal?feature={RUNS}", headers=who.acting)
        return dict(found.json())

    await cap({"amount": "15.00", "currency": "ZAR"}, account["version"])
    at = host.now()
    await held.used(host, who.organization_id, [held.entry(quantity=509, at=at)])
    before = await ask()
    await held.used(host, who.organization_id, [held.entry(key="tenth", at=at)])
    reached = await ask()
    await cap(None, account["version"] + 1)
    lifted = await ask()

    assert (before["entitled"], lifted["entitled"]) == (True, True)
    assert (reached["entitled"], reached["reason"]) == (False, "spend_cap_reached")
    assert (reached["state"], reached["hard"]) == ("exhausted", True)


async def test_terms_are_kept_with_the_month(host: Host, organization_id: UUID):
    await held.subscribed(host, organization_id, "professional", anchor=begun(host))
    await held.used(host, organization_id, [held.entry(quantity=537, at=host.now())])
    work = billing.working(host, organization_id, ahead=over(host, begun(host)))
    await current.refresh(work, reason="time_passed")
    month = await months.usage_month_on(work, begun(host))
    await work.close()

    assert month is not None
    assert month.terms[RUNS] == [{"from": 0, "included": 500, "unitPrice": "1.50"}]
    assert month.terms[TUTOR] == [{"from": 0, "included": 1000, "unitPrice": None}]
