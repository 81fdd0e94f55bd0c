"""A usage month is billed by what held while it was used, and found by when something was used."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Time
from tests.factories import billing, held, paying
from tests.factories.held import RUNS, SMS
from tests.factories.paying import Payer
from thenga.domains.billing.public import UsageReceipt
from thenga.domains.billing.services.accounts import accounts, parking
from thenga.domains.billing.services.entitlements import current, grants
from thenga.domains.billing.services.plan_changes import changes
from thenga.domains.billing.services.plan_changes.quotes import ChangeRequest, Effective
from thenga.domains.billing.services.subscriptions import cancellations
from thenga.domains.billing.services.subscriptions import clock as subscription_clock
from thenga.domains.billing.services.subscriptions.cancellations import CancellationRequest
from thenga.domains.billing.services.usage import charges, recording, reservations, summaries
from thenga.domains.billing.tables import CancellationMode, Interval, Subscription
from thenga.kernel.errors import PlanLimitReached
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight

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
    made = await recording.record_usage(
        work, [recording.UsageEntry(meter, key, quantity, at or work.now)]
    )
    await work.finish()
    return made


async def grant(payer: Payer, value: int, until: datetime) -> None:
    work = payer.work()
    await grants.issue_grant(
        work, entitlement=RUNS, value=value, expires_at=until, reason="two days without import"
    )
    await work.finish()


async def follow(payer: Payer) -> None:
    """What the job of the set does when its time has come."""
    work = payer.work()
    await current.refresh(work, reason="time_passed")
    await work.finish()


async def change(payer: Payer, held: Subscription, plan: str, **more: Any) -> None:
    work = payer.work()
    row = await subscription_clock.lock_subscription(work, held.id)
    wanted = ChangeRequest(plan, more.get("interval", Interval.MONTH), more.get("effective"))
    await changes.request_change(work, row, wanted, expected_due=None)
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


async def documents(payer: Payer) -> list[tuple[Any, ...]]:
    """Usage invoices: their amounts and whether they are paid."""
    found = await payer.rows(
        "SELECT gross_minor, status FROM billing.invoice "
        "WHERE organization_id = $1 AND purpose = 'usage' ORDER BY created_at, id"
    )
    return [tuple(one) for one in found]


async def cancel(payer: Payer, held: Subscription, mode: CancellationMode) -> None:
    work = payer.work()
    row = await subscription_clock.lock_subscription(work, held.id)
    await cancellations.cancel_subscription(
        work, row, CancellationRequest(mode, "other", None, settlement=None)
    )
    await work.finish()


@pytest.mark.rule("BIL-23")
@pytest.mark.parametrize("used", [537, 501])
async def test_who_leaves_at_the_periods_end_pays_for_the_last_month(
    host: Host, seeded: None, clock: Time, used: int
):
    """37 x 1.50; and one unit of 1.50, though it is below the least of an invoice."""
    payer, plan = await customer(host, clock, "professional")
    await use(payer, used, "all")
    await cancel(payer, plan, CancellationMode.PERIOD_END)

    await payer.at(local_midnight(JANUARY))

    assert await documents(payer) == [((used - 500) * 150, "paid")]
    assert await lines(payer) == [("usage", used - 500, (used - 500) * 150, BOUGHT.date())]


@pytest.mark.rule("BIL-23")
async def test_immediate_cancellation_deducts_usage_from_credit(
    host: Host, seeded: None, clock: Time
):
    payer, plan = await customer(host, clock, "professional")
    await use(payer, 537, "all")
    await payer.at(BOUGHT + timedelta(days=10))
    charged = len(payer.charged)
    await cancel(payer, plan, CancellationMode.IMMEDIATE)
    await payer.settle()

    await payer.at(BOUGHT + timedelta(days=60))

    assert await documents(payer) == [(5550, "paid")]
    assert len(payer.charged) == charged


@pytest.mark.rule("BIL-23")
async def test_who_is_given_up_owes_the_last_month_too(host: Host, seeded: None, clock: Time):
    payer, _ = await customer(host, clock, "professional")
    payer.card = "soft"
    await payer.at(local_midnight(DECEMBER) + timedelta(days=1))
    await use(payer, 537, "all")

    await payer.at(local_midnight(FEBRUARY))

    assert await documents(payer) == [(5550, "open")]
    assert await lines(payer) == [("usage", 37, 5550, DECEMBER)]


@pytest.mark.rule("BIL-23")
async def test_a_smaller_plan_now_does_not_wipe_out_what_is_over(
    host: Host, seeded: None, clock: Time
):
    """37 over what was included when they were used; what is above a hard limit is not sold."""
    payer, plan = await customer(host, clock, "professional")
    await use(payer, 537, "before")
    await payer.at(BOUGHT + timedelta(days=5))
    await change(payer, plan, "starter", effective=Effective.NOW)
    await use(payer, 20, "after")

    await payer.at(local_midnight(FEBRUARY))

    assert await lines(payer) == [("usage", 37, 5550, BOUGHT.date())]


@pytest.mark.rule("BIL-51")
async def test_a_parked_account_that_ends_is_billed_when_it_is_free(
    host: Host, seeded: None, clock: Time
):
    payer, plan = await customer(host, clock, "professional")
    await use(payer, 537, "all")
    await cancel(payer, plan, CancellationMode.PERIOD_END)
    work = payer.work()
    await parking.park(work, reason="ledger_check_failed")
    await work.finish()

    await payer.at(local_midnight(DECEMBER) + timedelta(days=3))
    parked = await documents(payer)
    work = payer.work()
    await parking.unpark(work, reason="ledger_check_failed")
    await work.finish()
    await payer.at(local_midnight(DECEMBER) + timedelta(days=5))

    assert (parked, await documents(payer)) == ([], [(5550, "paid")])


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


async def cap(payer: Payer, amount: int | None) -> None:
    work = payer.work()
    await accounts.change_account(work, payer.account.id, fields={"spend_cap_minor": amount})
    await work.finish()


@pytest.mark.rule("BIL-23")
async def test_no_month_costs_more_than_its_cap(host: Host, seeded: None, clock: Time):
    """15.00 buys ten units of 1.50, however many came in one batch; late ones cost nothing more."""
    payer, _ = await customer(host, clock, "professional")
    await cap(payer, 1500)
    await use(payer, 1500, "at once")
    await use(payer, 900, "texts", meter=SMS)
    await payer.at(local_midnight(DECEMBER) + timedelta(days=1))
    await use(payer, 50, "late", at=local_midnight(DECEMBER) - timedelta(hours=1))
    await cap(payer, None)

    await payer.at(local_midnight(FEBRUARY))

    assert await lines(payer) == [("usage", 10, 1500, BOUGHT.date())]


@pytest.mark.rule("BIL-23")
async def test_a_cap_that_comes_later_takes_nothing_off_what_is_over(
    host: Host, seeded: None, clock: Time
):
    payer, _ = await customer(host, clock, "professional")
    await use(payer, 537, "before")
    await cap(payer, 1500)
    await use(payer, 100, "after")
    await cap(payer, 100)

    await payer.at(local_midnight(JANUARY))

    assert await lines(payer) == [("usage", 37, 5550, BOUGHT.date())]


@pytest.mark.rule("BIL-23")
async def test_reservations_go_as_far_as_the_cap_still_pays(host: Host, seeded: None, clock: Time):
    payer, _ = await customer(host, clock, "professional")
    await cap(payer, 1500)
    await use(payer, 495, "first")

    async def reserve(key: str, quantity: int) -> bool:
        work = payer.work()
        try:
            await reservations.reserve_usage(work, meter=RUNS, quantity=quantity, key=key)
            await work.finish()
        except PlanLimitReached:
            return False
        finally:
            await work.close()
        return True

    async def reason() -> str:
        work = payer.work()
        said = await current.signal(work, RUNS)
        await work.close()
        return said.reason

    asked = [await reserve(f"{n}", n) for n in (16, 14, 2, 1, 3)]
    reached = await reason()
    payer.clock.set(host.now() + timedelta(minutes=16))
    work = payer.work()
    await reservations.reserve_usage(work, meter=RUNS, quantity=2, key="later")
    await work.finish()

    assert asked == [False, True, False, True, False]
    assert (reached, await reason()) == ("spend_cap_reached", "included")


@pytest.mark.rule("BIL-3")
async def test_grant_ending_mid_month_covers_its_usage(host: Host, seeded: None, clock: Time):
    """1 400 of 1 500 were covered; of what comes after the grant each one is over."""
    payer, _ = await customer(host, clock, "professional")
    ends = datetime(2026, 11, 25, tzinfo=UTC)
    await grant(payer, 1000, ends)
    await payer.at(datetime(2026, 11, 20, tzinfo=UTC))
    await use(payer, 1400, "covered")
    await payer.at(ends)
    await follow(payer)
    await use(payer, 30, "after")

    await payer.at(local_midnight(JANUARY))

    assert await lines(payer) == [("usage", 30, 4500, BOUGHT.date())]


@pytest.mark.rule("BIL-20")
async def test_a_use_counts_in_the_month_that_ran_when_it_happened(
    host: Host, seeded: None, clock: Time
):
    """By the year from 24 November on: what was used on the 23rd is of the month before."""
    payer, plan = await customer(host, clock, "professional")
    await use(payer, 537, "first")
    await payer.at(datetime(2026, 11, 24, 8, tzinfo=UTC))
    await change(payer, plan, "professional", interval=Interval.YEAR)
    await payer.at(datetime(2026, 11, 25, 8, tzinfo=UTC))

    await use(payer, 10, "reported later", at=datetime(2026, 11, 23, 8, tzinfo=UTC))
    await use(payer, 20, "new month")
    shown = await picture(payer, plan, date(2026, 11, 23)), await picture(payer, plan, None)
    await payer.at(datetime(2026, 12, 24, 8, tzinfo=UTC))

    assert shown == (
        (date(2026, 11, 14), date(2026, 11, 24), 547, "70.50"),
        (date(2026, 11, 24), date(2026, 12, 24), 20, "0.00"),
    )
    assert await lines(payer) == [("usage", 47, 7050, BOUGHT.date())]


async def picture(payer: Payer, plan: Subscription, day: date | None) -> tuple[Any, ...]:
    work = payer.work()
    found = await summaries.summarize(work, plan.id, day)
    await work.close()
    (use,) = [one for one in found.uses if one.meter == RUNS]
    return found.month.start, found.month.end, use.used, use.overage.amount


@pytest.mark.rule("BIL-6")
async def test_after_a_plan_its_days_stay_its_own(host: Host, seeded: None, clock: Time):
    """The free plan counts from another day; what was used before the end is the plan's."""
    payer = await paying.payer(
        host, clock, datetime(2026, 11, 3, 8, tzinfo=UTC), bill_to=billing.BILL_TO | ADDRESS
    )
    await payer.at(BOUGHT)
    plan = await payer.buy("professional")
    await use(payer, 500, "first")
    await cancel(payer, plan, CancellationMode.PERIOD_END)
    await payer.at(local_midnight(DECEMBER) + timedelta(hours=1))

    await use(payer, 7, "of the plan", at=datetime(2026, 12, 10, 8, tzinfo=UTC))
    await use(payer, 3, "of the free one")

    assert (await picture(payer, plan, date(2026, 12, 10)))[2:] == (507, "10.50")
    assert (await picture(payer, plan, None))[2:] == (3, "0.00")


@pytest.mark.rule("BIL-21")
async def test_a_smaller_limit_that_is_nearly_used_up_is_told(
    host: Host, seeded: None, clock: Time
):
    """90 of 500 is nothing; of 100 it is more than 80 per cent, and so it is told, once."""
    payer, plan = await customer(host, clock, "professional")
    await use(payer, 90, "before")
    quiet = await held.told(host, payer.organization_id, "UsageLimitReached")

    await payer.at(BOUGHT + timedelta(days=5))
    await change(payer, plan, "starter", effective=Effective.NOW)
    await use(payer, 5, "after")

    told = await held.told(host, payer.organization_id, "UsageLimitReached")
    shown = [(one["meter"], one["thresholdPct"], one["used"], one["limit"]) for one in told]
    assert (quiet, shown) == ([], [(RUNS, 80, 90, 100)])


@pytest.mark.rule("BIL-23")
async def test_what_is_used_on_trial_is_never_billed(host: Host, seeded: None):
    organization_id = uuid4()
    await billing.trial(host, organization_id)
    await billing.followed(host, organization_id)
    await held.used(host, organization_id, [held.entry(quantity=600, at=host.now())])

    work = billing.working(host, organization_id, ahead=timedelta(days=40))
    owed = await charges.is_usage_owed(work)
    await work.close()

    assert not owed
