"""Changes of plan: made when they are paid, once, and not on any day."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.billing.changing import (
    change,
    covered_twice,
    documents,
    paid_change,
    rand,
)
from tests.factories import paying
from tests.factories.subscriptions import Customer, customer
from tests.planting import plant
from thenga.domains.billing.services.plan_changes import changes
from thenga.domains.billing.tables import (
    Subscription,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
)
from thenga.kernel.process.host import Host


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    return await customer(host, api, clock, "2026-11-14 10:00")


@pytest.mark.rule("BIL-11")
async def test_a_declined_change_changes_nothing_and_lapses(buyer: Customer):
    held = await buyer.buy()
    before = await documents(buyer)
    events = await buyer.told()

    await buyer.at("2026-11-24 10:00")
    asked = (await change(buyer, held, planCode="professional")).json()
    await buyer.pay(asked["pendingChange"]["paymentId"], StatedStatus.FAILED)
    declined = await buyer.read(held["id"])
    await buyer.at("2026-11-25 08:59")
    still = await buyer.read(held["id"])
    await buyer.at("2026-11-25 09:00")
    lapsed = await buyer.read(held["id"])
    await buyer.sweep()
    swept = await buyer.read(held["id"])

    told = (await buyer.told())[len(events) :]
    print(f"plan={swept['planCode']} documents={await documents(buyer)} told={told}")
    assert asked["planCode"] == declined["planCode"] == lapsed["planCode"] == "starter"
    assert asked["pendingChange"]["amountDue"] == rand("666.66")
    assert declined["pendingChange"]["status"] == still["pendingChange"]["status"]
    assert (lapsed["pendingChange"], swept["pendingChange"]) == (None, None)
    assert await documents(buyer) == before
    assert told == ["PaymentFailed"]
    drafts = await buyer.rows(
        "SELECT status FROM billing.invoice WHERE organization_id = $1 AND purpose = 'change'"
    )
    assert [row["status"] for row in drafts] == ["discarded"]


@pytest.mark.rule("BIL-11")
async def test_two_changes_at_once_are_one_change(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")

    answers = await asyncio.gather(
        *(change(buyer, held, planCode=code) for code in ("professional", "enterprise"))
    )

    made = [one for one in answers if one.status_code == 200]
    refused = [one for one in answers if one.status_code == 409]
    await buyer.pay(made[0].json()["pendingChange"]["paymentId"])
    print(f"applied={len(made)} refused={len(refused)} code={refused[0].json()['code']}")
    assert (len(made), len(refused)) == (1, 1)
    assert refused[0].json()["code"] == "billing-payment-in-progress"
    assert await covered_twice(buyer) == 0
    assert (await buyer.told()).count("SubscriptionChanged:plan_changed") == 1


@pytest.mark.rule("BIL-11")
async def test_the_same_change_down_twice_at_once_is_one_change(buyer: Customer):
    held = await buyer.buy("enterprise")
    await buyer.at("2026-11-24 10:00")

    answers = await asyncio.gather(
        *(change(buyer, held, planCode="starter", effective="now") for _ in range(3))
    )
    await buyer.number()

    issued = [kind for kind, _, _ in await documents(buyer)]
    again = await change(buyer, held, planCode="explorer", effective="now")
    print(f"answers={[one.status_code for one in answers]} documents={issued}")
    assert [(one.status_code, one.json()["planCode"]) for one in answers] == [(200, "starter")] * 3
    assert sorted(issued) == ["CN", "TI", "TI"]
    assert (await buyer.told()).count("SubscriptionChanged:plan_changed") == 1
    assert (again.status_code, again.json()["code"]) == (409, "billing-change-today")
    assert await covered_twice(buyer) == 0


@pytest.mark.rule("BIL-11")
async def test_down_is_scheduled_replaced_and_withdrawn_without_money(buyer: Customer):
    held = await buyer.buy("enterprise")
    before = await documents(buyer)

    first = (await change(buyer, held, planCode="starter")).json()["pendingChange"]
    second = (await change(buyer, held, planCode="professional")).json()["pendingChange"]
    path = f"subscriptions/{held['id']}/pending-change/withdraw"
    withdrawn = await buyer.post(path)
    again = await buyer.post(path)

    assert (first["planCode"], first["status"]) == ("starter", "scheduled")
    assert (first["effective"], first["effectiveOn"]) == ("period_end", "2026-12-14")
    assert (second["planCode"], second["amountDue"]) == ("professional", rand("0.00"))
    assert (withdrawn.status_code, withdrawn.json()["pendingChange"]) == (200, None)
    assert (again.status_code, again.json()) == (200, withdrawn.json())
    assert await documents(buyer) == before


@pytest.mark.rule("BIL-11")
async def test_no_change_down_on_the_day_of_a_change_up(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    await paid_change(buyer, held, planCode="professional")

    today = await change(buyer, held, planCode="starter", effective="now")
    later = await change(buyer, held, planCode="starter", effective="period_end")

    assert (today.status_code, today.json()["code"]) == (409, "billing-change-today")
    assert later.status_code == 200


@pytest.mark.rule("BIL-11")
async def test_another_amount_than_the_one_seen_is_refused(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")

    answer = await change(buyer, held, planCode="professional", expectedAmountDue=rand("666.65"))

    told = answer.json()
    assert (answer.status_code, told["code"]) == (409, "billing-quote-changed")
    assert (told["expected"], told["amountDue"]) == (rand("666.65"), rand("666.66"))
    assert (await buyer.read(held["id"]))["pendingChange"] is None


@pytest.mark.parametrize("code", ["starter", "ai-boost", "nothing-such"])
async def test_what_cannot_be_gone_to_is_refused(buyer: Customer, code: str):
    held = await buyer.buy()

    answer = await change(buyer, held, planCode=code)

    assert (answer.status_code, answer.json()["code"]) == (422, "billing-plan-not-available")


async def test_without_a_way_to_pay_a_change_says_so(buyer: Customer):
    held = await buyer.buy()
    await buyer.rows(
        "UPDATE billing.payment_method SET status = 'revoked' "
        "WHERE organization_id = $1 RETURNING 1"
    )

    answer = await change(buyer, held, planCode="professional")

    told = (answer.status_code, answer.json()["code"])
    assert told == (422, "billing-payment-method-required")
    assert (await buyer.read(held["id"]))["pendingChange"] is None


@pytest.mark.rule("BIL-11")
async def test_while_trialing_only_the_plan_tried_changes(buyer: Customer):
    trial = (await buyer.post("trials", planCode="professional")).json()
    held = {"id": trial["subscriptionId"]}

    changed = await change(buyer, held, planCode="starter")
    tried = await buyer.get(f"trials/{trial['id']}")
    free = await change(buyer, held, planCode="explorer")

    assert (changed.status_code, changed.json()["status"]) == (200, "trialing")
    assert (changed.json()["planCode"], tried["planCode"]) == ("starter", "starter")
    assert tried["endsAt"] == trial["endsAt"]
    assert (free.status_code, free.json()["code"]) == (422, "billing-plan-not-available")
    assert await documents(buyer) == []


async def test_a_planted_change_before_its_money_is_found(
    buyer: Customer, monkeypatch: pytest.MonkeyPatch
):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    asked = changes._change_now

    async def at_once(work: Any, account: Any, subscription: Any, quoted: Any) -> Any:
        await asked(work, account, subscription, quoted)
        await changes.apply_change(work, subscription, on=quoted.priced.on)
        return subscription

    plant(monkeypatch, changes, "_change_now", at_once)

    answer = await change(buyer, held, planCode="professional")

    assert answer.json()["planCode"] != "starter"


@pytest.mark.rule("BIL-11")
@pytest.mark.parametrize("day", [15, 40])
async def test_overdue_plan_must_be_paid_before_it_changes(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None, day: int
):
    payer, subscription = await paying.declined(host, clock)
    await payer.at(datetime(2026, 11, 1, 9, tzinfo=UTC) + timedelta(days=day - 1))
    headers = await paying.owner_of(host, payer)
    path = f"/billing/subscriptions/{subscription.id}/change-plan"
    body = {"planCode": "enterprise"}

    status = (await payer.read(Subscription, subscription.id)).status
    refused = await api.post(path, json=body, headers=headers)
    foreseen = await api.post(f"{path}/preview", json=body, headers=headers)

    assert status == {15: "past_due", 40: "suspended"}[day]
    for answer in (refused, foreseen):
        assert (answer.status_code, answer.json()["code"]) == (409, "billing-payment-overdue")
