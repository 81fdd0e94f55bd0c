"""Pausing: no money moves, the days wait, and they go on."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import billing, paying
from tests.factories.subscriptions import Customer, customer
from tests.planting import plant
from thenga.domains.billing.services.customer import account_lock
from thenga.domains.billing.services.subscriptions import pause_rules
from thenga.domains.billing.tables import (
    CollectionMethod,
    Pause,
    Subscription,
    SubscriptionStatus,
)
from thenga.kernel.process.host import Host


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    return await customer(host, api, clock, "2026-11-14 10:00")


async def pause(buyer: Customer, held: Any, **body: Any) -> httpx2.Response:
    return await buyer.post(f"subscriptions/{held['id']}/pause", **body)


async def resume(buyer: Customer, held: Any) -> httpx2.Response:
    return await buyer.post(f"subscriptions/{held['id']}/resume")


async def pay_renewal(buyer: Customer) -> None:
    (charge,) = await buyer.rows(
        "SELECT id FROM billing.payment WHERE organization_id = $1 AND status = 'processing'"
    )
    await buyer.pay(str(charge["id"]))


async def spans(buyer: Customer) -> list[tuple[str, str]]:
    found = await buyer.rows(
        "SELECT starts_on, ends_on FROM billing.billed_span WHERE organization_id = $1 "
        "ORDER BY starts_on"
    )
    return [(str(row["starts_on"]), str(row["ends_on"])) for row in found]


@pytest.mark.rule("BIL-13")
async def test_days_that_were_paid_for_wait_and_go_on(buyer: Customer):
    held = await buyer.buy()

    await buyer.at("2026-11-24 10:00")
    paused = (await pause(buyer, held)).json()
    await buyer.at("2026-11-24 21:59")
    same_day = await buyer.read(held["id"])
    await buyer.at("2026-11-24 22:00")
    begun = await buyer.read(held["id"])
    await buyer.at("2027-01-10 10:00")
    resumed = (await resume(buyer, held)).json()
    again = (await resume(buyer, held)).json()

    period = resumed["currentPeriod"]
    print(f"banked={paused['bankedDays']} ends={period['end']} anchor={resumed['anchorDate']} ")
    assert (paused["status"], paused["bankedDays"]) == ("paused", 19)
    assert (paused["pausedOn"], paused["resumeOn"]) == ("2026-11-24", "2027-02-22")
    assert (same_day["access"], begun["access"]) == ("full", "read_only")
    assert (resumed["status"], resumed["access"]) == ("active", "full")
    assert (period["end"], resumed["anchorDate"]) == ("2027-01-29", "2027-01-29")
    assert (resumed["bankedDays"], resumed["pausedOn"]) == (None, None)
    assert again == resumed
    assert await spans(buyer) == [("2026-11-14", "2026-11-25"), ("2027-01-10", "2027-01-29")]
    documents = await buyer.rows("SELECT id FROM billing.invoice WHERE organization_id = $1")
    assert len(documents) == 1
    told = await buyer.told()
    assert [one for one in told if one.startswith("SubscriptionChanged")] == [
        *("SubscriptionChanged:created", "SubscriptionChanged:activated"),
        *("SubscriptionChanged:paused", "SubscriptionChanged:resumed"),
    ]


@pytest.mark.rule("BIL-13")
async def test_it_resumes_by_itself_and_is_told_three_days_before(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    await pause(buyer, held, resumeOn="2027-01-10")

    await buyer.at("2027-01-06 21:59")
    await buyer.sweep()
    early = await buyer.told()
    await buyer.at("2027-01-06 22:00")
    await buyer.sweep()
    told = await buyer.told()
    await buyer.at("2027-01-09 22:00")
    before_sweep = await buyer.read(held["id"])
    await buyer.sweep()
    after_sweep = await buyer.read(held["id"])

    print(f"PauseEnding={told.count('PauseEnding')} resumed={after_sweep['currentPeriod']}")
    assert (early.count("PauseEnding"), told.count("PauseEnding")) == (0, 1)
    assert (before_sweep["status"], before_sweep["access"]) == ("active", "full")
    assert before_sweep["currentPeriod"]["end"] == "2027-01-29"
    changing = ("version", "updatedAt")
    shown = [
        {n: v for n, v in one.items() if n not in changing} for one in (before_sweep, after_sweep)
    ]
    assert shown[0] == shown[1]
    assert (await buyer.told()).count("SubscriptionChanged:resumed") == 1


@pytest.mark.rule("BIL-13")
async def test_a_pause_taken_back_on_its_day_did_not_happen(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    before = await buyer.read(held["id"])
    await pause(buyer, held)

    resumed = (await resume(buyer, held)).json()
    more = [await pause(buyer, held), await resume(buyer, held), await pause(buyer, held)]

    kept = ("currentPeriod", "anchorDate", "status", "bankedDays")
    assert {n: resumed[n] for n in kept} == {n: before[n] for n in kept}
    assert [one.status_code for one in more] == [200, 200, 200]
    assert await spans(buyer) == [("2026-11-14", "2026-12-14")]


@pytest.mark.rule("BIL-13")
async def test_two_pauses_a_year_of_ninety_days_at_most(buyer: Customer):
    held = await buyer.buy("starter", "year")
    for first, last in (("2026-12-01", "2026-12-10"), ("2027-02-01", "2027-02-10")):
        await buyer.at(f"{first} 10:00")
        assert (await pause(buyer, held)).status_code == 200
        await buyer.at(f"{last} 10:00")
        await resume(buyer, held)

    await buyer.at("2027-03-01 10:00")
    third = await pause(buyer, held)
    await buyer.at("2027-11-30 10:00")
    await buyer.sweep()
    await pay_renewal(buyer)
    day_before = await pause(buyer, held)
    await buyer.at("2027-12-01 10:00")
    too_long = await pause(buyer, held, resumeOn="2028-03-01")
    longest = await pause(buyer, held, resumeOn="2028-02-29")

    answers = (third, day_before, too_long)
    print(f"refused={[one.json()['code'] for one in answers]} then={longest.status_code}")
    assert [one.status_code for one in answers] == [409] * 3
    assert {one.json()["code"] for one in answers} == {"billing-pause-limit"}
    assert (longest.status_code, longest.json()["resumeOn"]) == (200, "2028-02-29")


@pytest.mark.rule("BIL-13")
async def test_after_a_pause_days_still_cost_what_they_cost(buyer: Customer):
    """A change after the resume: 19 of 30 days on either side."""
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    await pause(buyer, held)
    await buyer.at("2027-01-10 10:00")
    await resume(buyer, held)

    shown = await buyer.post(
        f"subscriptions/{held['id']}/change-plan/preview", planCode="professional"
    )

    figures = shown.json()
    print(f"credit={figures['creditNote']['gross']} charge={figures['invoice']['gross']}")
    assert figures["creditNote"]["gross"]["amount"] == "316.03"
    assert figures["invoice"]["gross"]["amount"] == "949.37"
    assert figures["days"] == {"left": 19, "full": 30}


@pytest.mark.rule("BIL-13")
async def test_pause_of_an_abandoned_year_does_not_price_a_month(
    buyer: Customer,
):
    held = await buyer.buy()  # 14 November to 14 December
    work = billing.working(buyer.host, buyer.id)
    await work.add(
        Pause(
            organization_id=buyer.id,
            subscription_id=UUID(held["id"]),
            paused_on=date(2025, 12, 24),
            resume_by=date(2026, 1, 3),
            banked_days=320,
            period_days=366,
            resumed_on=date(2026, 1, 3),
            continued_to=date(2026, 12, 14),
        )
    )
    await work.finish()

    shown = await buyer.post(
        f"subscriptions/{held['id']}/change-plan/preview", planCode="professional"
    )

    print(f"days={shown.json()['days']}")
    assert shown.json()["days"]["full"] == 30


@pytest.mark.rule("BIL-13")
async def test_paused_plan_cannot_change_but_keeps_a_scheduled_change(buyer: Customer):
    held = await buyer.buy("professional")
    path = f"subscriptions/{held['id']}/change-plan"
    await buyer.post(path, planCode="starter")
    await buyer.at("2026-11-24 10:00")
    await pause(buyer, held)

    refused = await buyer.post(path, planCode="enterprise")
    await buyer.at("2027-01-10 10:00")
    resumed = (await resume(buyer, held)).json()

    assert (refused.status_code, refused.json()["code"]) == (409, "billing-paused")
    assert resumed["pendingChange"]["effectiveOn"] == "2027-01-29"


@pytest.mark.rule("BIL-13")
async def test_days_that_are_not_paid_for_cannot_wait(
    host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None
):
    sent = CollectionMethod.SEND_INVOICE
    buyer = await customer(host, api, clock, "2026-11-14 10:00", collection_method=sent)
    held = await buyer.start()
    await buyer.number()

    unpaid = await pause(buyer, held)
    answer = await buyer.post(
        "payments", invoiceId=unpaid.json()["invoiceId"], paymentMethodId=str(buyer.method_id)
    )
    charged = await pause(buyer, held)
    await buyer.pay(answer.json()["id"])
    paid = await pause(buyer, held)

    print(f"unpaid={unpaid.json()['detail']} charged={charged.json()['code']} {paid.status_code}")
    assert (unpaid.status_code, unpaid.json()["code"]) == (409, "billing-payment-overdue")
    assert (charged.status_code, charged.json()["code"]) == (409, "billing-payment-in-progress")
    assert charged.json()["paymentId"] == answer.json()["id"]
    assert (paid.status_code, paid.json()["status"]) == (200, "paused")


@pytest.mark.rule("BIL-55")
async def test_cancelling_a_paused_plan_credits_the_banked_days(
    host: Host, clock: Time, seeded: None
):
    payer, subscription = await paying.declined(host, clock)
    work = payer.work()
    held = await work.lock(Subscription, subscription.id)
    held.status = SubscriptionStatus.PAUSED  # as it could be before an unpaid day was refused
    held.paused_on, held.banked_days = date(2026, 11, 15), 28
    await work.save(held)
    await work.finish()

    await payer.at(datetime(2026, 12, 13, 22, tzinfo=UTC))

    notes = await payer.rows(
        "SELECT gross_minor FROM billing.credit_note WHERE organization_id = $1"
    )
    ended = await payer.read(Subscription, subscription.id)
    assert (ended.status, [one["gross_minor"] for one in notes]) == ("ended", [139907])  # 28 of 30


@pytest.mark.parametrize(
    "status", [s for s in SubscriptionStatus if s not in ("active", "paused", "trialing")]
)
async def test_only_what_runs_and_is_paid_can_be_paused(buyer: Customer, status: str):
    held = await buyer.buy()
    await buyer.rows(
        "UPDATE billing.subscription SET status = $2, next_check_at = NULL "
        "WHERE organization_id = $1 RETURNING 1",
        status,
    )

    answers = [await pause(buyer, held), await resume(buyer, held)]

    assert [one.status_code for one in answers] == [409, 409]
    assert {one.json()["code"] for one in answers} == {"invalid-transition"}


async def test_a_planted_pause_that_banks_its_own_day_is_found(
    buyer: Customer, monkeypatch: pytest.MonkeyPatch
):
    plant(monkeypatch, pause_rules, "banked_days", lambda period, day: period.days_from(day))
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")

    paused = (await pause(buyer, held)).json()

    assert paused["bankedDays"] != 19


@pytest.mark.rule("BIL-13")
async def test_a_pause_lasts_a_day_at_least(buyer: Customer):
    held = await buyer.buy()

    today = await pause(buyer, held, resumeOn="2026-11-14")

    assert (today.status_code, today.json()["code"]) == (409, "billing-pause-limit")
    assert "on or after 2026-11-15" in today.json()["detail"]


@pytest.mark.rule("BIL-13")
@pytest.mark.rule("BIL-51")
async def test_nothing_is_left_to_pause_of_a_period_that_is_over(buyer: Customer):
    held = await buyer.buy()
    work = billing.working(buyer.host, buyer.id)
    account = await account_lock.lock_account(work)
    account.parked = {"reason": "test", "since": work.now.isoformat()}
    await work.save(account)
    await work.finish()
    await buyer.at("2026-12-20 10:00")

    refused = await pause(buyer, held)

    assert (refused.status_code, refused.json()["code"]) == (409, "billing-account-parked")
