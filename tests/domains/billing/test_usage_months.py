"""A usage month is billed by what held while it was used, and found by when something was used."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.conftest import Time
from tests.factories import billing, paying
from tests.factories.held import RUNS, SMS
from tests.factories.paying import Payer
from thenga.domains.billing.public import UsageReceipt
from thenga.domains.billing.services import (
    entitlements,
    grants,
    plan_changes,
    subscription_clock,
    usage,
)
from thenga.domains.billing.services.plan_quotes import Effective, Wanted
from thenga.domains.billing.tables import Interval, Subscription
from thenga.kernel.calendar import local_midnight
from thenga.kernel.host import Host

BOUGHT = datetime(2026, 11, 14, 8, tzinfo=UTC)
ADDRESS = {"address": {"line1": "1 Long Street", "city": "Cape Town"}}
DECEMBER, JANUARY, FEBRUARY = date(2026, 12, 14), date(2027, 1, 14), date(2027, 2, 14)


async def customer(host: Host, clock: Time, plan: str) -> tuple[Payer, Subscription]:
    payer = await paying.payer(host, clock, BOUGHT, bill_to=billing.BILL_TO | ADDRESS)
    return payer, await payer.buy(plan)


async def use(
    payer: Payer, quantity: int, key: str, *, meter: str = RUNS, at: datetime | None = None
) -> UsageReceipt:
    work = payer.work()
    made = await usage.record(work, [usage.Entry(meter, key, quantity, at or work.now)])
    await work.finish()
    return made


async def grant(payer: Payer, value: int, until: datetime) -> None:
    work = payer.work()
    await grants.issue(
        work, entitlement=RUNS, value=value, expires_at=until, reason="two days without import"
    )
    await work.finish()


async def follow(payer: Payer) -> None:
    """What the job of the set does when its time has come."""
    work = payer.work()
    await entitlements.follow(work, reason="time_passed")
    await work.finish()


async def change(payer: Payer, held: Subscription, plan: str, **more: Any) -> None:
    work = payer.work()
    row = await subscription_clock.held(work, held.id)
    wanted = Wanted(plan, more.get("interval", Interval.MONTH), more.get("effective"))
    await plan_changes.request(work, row, wanted, expected_due=None)
    await work.finish()
    await payer.settle()


async def lines(payer: Payer) -> list[tuple[Any, ...]]:
    """Usage that was billed: kind, units, cents and the first day of its month."""
    found = await payer.rows(
        "SELECT kind, quantity, gross_minor, service_from FROM billing.invoice_line "
        "WHERE organization_id = $1 AND kind IN ('usage', 'late_usage') ORDER BY created_at, id"
    )
    return [tuple(one) for one in found]


@pytest.mark.rule("BIL-23")
async def test_a_month_without_a_price_is_not_billed_by_a_later_plan(
    host: Host, seeded: None, clock: Time
):
    """100 hard and 1 000 granted: what was used of them in November is not sold in January."""
    payer, plan = await customer(host, clock, "starter")
    await grant(payer, 1000, BOUGHT + timedelta(days=40))
    await use(payer, 900, "november")
    await payer.at(local_midnight(DECEMBER) + timedelta(days=5))
    await change(payer, plan, "professional", effective=Effective.NOW)

    await payer.at(local_midnight(FEBRUARY))

    assert await lines(payer) == []


@pytest.mark.rule("BIL-20")
async def test_what_comes_first_for_a_billed_month_is_late_too(
    host: Host, seeded: None, clock: Time
):
    """No meter of a month needs a record before its invoice, for later ones to be late."""
    payer, _ = await customer(host, clock, "professional")
    await payer.at(local_midnight(DECEMBER) + timedelta(days=1))

    last = local_midnight(DECEMBER) - timedelta(hours=1)
    said = await use(payer, 300, "first", meter=SMS, at=last)
    await payer.at(local_midnight(JANUARY))

    assert said.items[0].late
    assert await lines(payer) == [("late_usage", 50, 3000, BOUGHT.date())]
