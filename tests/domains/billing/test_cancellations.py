"""Leaving: keeping what is paid, or taking the rest back; and staying after all."""

import asyncio
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import billing
from tests.factories.subscriptions import Customer, customer
from tests.planting import plant
from thenga.domains.billing.services.customer import account_lock
from thenga.domains.billing.services.pricing import proration
from thenga.domains.billing.services.subscriptions import cancellation_refunds, cancellations
from thenga.domains.billing.tables import (
    Cancellation,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
)
from thenga.kernel.process.host import Host

WHY = {"reasonCode": "too_expensive", "comment": "No tender was won."}


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    return await customer(host, api, clock, "2026-11-14 10:00")


async def cancel(buyer: Customer, held: Any, **body: Any) -> httpx2.Response:
    return await buyer.post(f"subscriptions/{held['id']}/cancel", **WHY | body)


async def pay_back(buyer: Customer, cancellation_id: str) -> None:
    """What the worker's job does once the credit note has its number."""
    work = billing.working(buyer.host, buyer.id)
    await cancellation_refunds.refund_cancellation(work, UUID(cancellation_id))
    await work.finish()


async def notes(buyer: Customer) -> list[tuple[int, int]]:
    found = await buyer.rows(
        "SELECT gross_minor, vat_minor FROM billing.credit_note "
        "WHERE organization_id = $1 AND number IS NOT NULL ORDER BY number"
    )
    return [(row["gross_minor"], row["vat_minor"]) for row in found]


async def refunds(buyer: Customer) -> list[int]:
    found = await buyer.rows(
        "SELECT amount_minor FROM billing.refund WHERE organization_id = $1 ORDER BY id"
    )
    return [row["amount_minor"] for row in found]


@pytest.mark.rule("BIL-7")
async def test_what_is_paid_for_stays_until_the_period_ends(buyer: Customer):
    held = await buyer.buy()
    await buyer.post(f"subscriptions/{held['id']}/change-plan", planCode="explorer")

    made = await cancel(buyer, held)
    again = await cancel(buyer, held, reasonCode="other")
    leaving = await buyer.read(held["id"])
    await buyer.at("2026-12-13 21:59")
    last_minute = await buyer.read(held["id"])
    await buyer.at("2026-12-13 22:00")
    over = await buyer.read(held["id"])
    shown = await buyer.get(f"cancellations/{made.json()['id']}")
    account = (await buyer.get("accounts"))["items"][0]
    await buyer.sweep()
    swept = await buyer.read(held["id"])

    cancellation = made.json()
    print(f"first={made.status_code} again={again.status_code} at={cancellation['effectiveAt']}")
    assert (made.status_code, again.status_code) == (202, 200)
    assert made.headers["Location"] == f"/v1/billing/cancellations/{cancellation['id']}"
    assert again.json()["id"] == cancellation["id"]
    assert cancellation["effectiveAt"] == "2026-12-13T22:00:00Z"
    assert (leaving["status"], leaving["cancelAt"]) == ("active", "2026-12-13T22:00:00Z")
    assert leaving["pendingChange"] is None
    assert (last_minute["status"], last_minute["access"]) == ("active", "full")
    assert (over["status"], over["access"], shown["status"]) == ("ended", "none", "effective")
    assert account["subscriptions"] == []
    assert (swept["status"], swept["endedAt"]) == ("ended", "2026-12-13T22:00:00Z")
    assert (await notes(buyer), cancellation["credited"]["amount"]) == ([], "0.00")
    told = await buyer.told()
    assert (told.count("SubscriptionCancelled"), told.count("SubscriptionChanged:ended")) == (1, 1)
    invoices = await buyer.rows("SELECT id FROM billing.invoice WHERE organization_id = $1")
    assert len(invoices) == 1


@pytest.mark.rule("BIL-8")
async def test_at_once_the_days_after_today_are_credited(buyer: Customer):
    held = await buyer.buy()

    await buyer.at("2026-11-24 10:00")
    made = await cancel(buyer, held, mode="immediate")
    await buyer.number()

    cancellation = made.json()
    now = await buyer.read(held["id"])
    account = (await buyer.get("accounts"))["items"][0]
    print(f"credited={cancellation['credited']['amount']} notes={await notes(buyer)}")
    assert (made.status_code, cancellation["status"]) == (202, "effective")
    assert cancellation["credited"] == {"amount": "316.03", "currency": "ZAR"}
    assert cancellation["settlement"] == "credit"
    assert await notes(buyer) == [(31603, 4122)]
    assert (now["status"], now["access"]) == ("ended", "none")
    assert account["creditBalance"]["amount"] == "316.03"
    assert (account["subscriptions"], await refunds(buyer)) == ([], [])


@pytest.mark.rule("BIL-8")
async def test_the_rest_is_paid_back_through_the_provider_if_asked_for(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    made = (await cancel(buyer, held, mode="immediate", settlement="refund")).json()
    await buyer.at("2026-11-24 10:01")
    await pay_back(buyer, made["id"])
    waits = await buyer.get(f"cancellations/{made['id']}")
    await buyer.number()

    await buyer.at("2026-11-24 10:02")
    for _ in range(2):
        await pay_back(buyer, made["id"])

    shown = await buyer.get(f"cancellations/{made['id']}")
    assert (waits["refundIds"], len(shown["refundIds"])) == ([], 1)
    assert await refunds(buyer) == [31603]


async def test_money_goes_back_beside_whoever_holds_the_account(buyer: Customer):
    """The account is locked first everywhere, so nobody waits in a circle."""
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    made = (await cancel(buyer, held, mode="immediate", settlement="refund")).json()
    await buyer.number()
    await buyer.at("2026-11-24 10:01")
    other = billing.working(buyer.host, buyer.id)
    await account_lock.lock_account(other)

    paying = asyncio.create_task(pay_back(buyer, made["id"]))
    await billing.until_blocked_by(buyer.host, other)
    await other.lock(Cancellation, UUID(made["id"]))
    await other.finish()
    await paying

    assert await refunds(buyer) == [31603]


@pytest.mark.rule("BIL-8")
@pytest.mark.parametrize(
    ("at", "credited"), [("2026-11-21 21:59", "499.00"), ("2026-11-21 22:00", "349.30")]
)
async def test_in_the_first_days_the_whole_is_paid_back(buyer: Customer, at: str, credited: str):
    held = await buyer.buy()
    await buyer.at(at)

    made = (await cancel(buyer, held, mode="immediate")).json()

    print(f"at={at} credited={made['credited']['amount']} settlement={made['settlement']}")
    assert made["credited"]["amount"] == credited
    assert made["settlement"] == ("refund" if credited == "499.00" else "credit")


@pytest.mark.rule("BIL-8")
async def test_the_whole_is_all_that_was_paid_whatever_was_changed(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-16 10:00")
    path = f"subscriptions/{held['id']}/change-plan"
    asked = (await buyer.post(path, planCode="professional")).json()
    await buyer.pay(asked["pendingChange"]["paymentId"])

    made = (await cancel(buyer, held, mode="immediate")).json()
    await buyer.number()
    await buyer.at("2026-11-16 10:01")
    await pay_back(buyer, made["id"])

    paid = await buyer.rows(
        "SELECT sum(amount_minor) AS total FROM billing.payment WHERE organization_id = $1"
    )
    print(f"paid={paid[0]['total']} refunds={await refunds(buyer)}")
    assert sum(await refunds(buyer)) == paid[0]["total"]
    account = (await buyer.get("accounts"))["items"][0]
    sent = sum(await refunds(buyer))
    assert account["creditBalance"]["amount"] == f"{sent / 100:.2f}"  # until the provider has paid


@pytest.mark.rule("BIL-8")
async def test_none_gives_nothing_back_and_a_later_immediate_replaces(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    scheduled = (await cancel(buyer, held)).json()

    made = await cancel(buyer, held, mode="immediate", settlement="none")
    again = await cancel(buyer, held, mode="immediate")

    listed = await buyer.get("cancellations")
    statuses = {one["id"]: one["status"] for one in listed["items"]}
    assert (made.status_code, again.status_code) == (202, 200)
    assert again.json()["id"] == made.json()["id"]
    assert statuses == {scheduled["id"]: "replaced", made.json()["id"]: "effective"}
    assert await notes(buyer) == []
    only = await buyer.get("cancellations?status=replaced&reasonCode=too_expensive")
    assert [one["id"] for one in only["items"]] == [scheduled["id"]]


@pytest.mark.rule("BIL-9")
async def test_undone_in_time_all_is_as_it_was(buyer: Customer):
    held = await buyer.buy()
    before = await buyer.read(held["id"])
    made = (await cancel(buyer, held)).json()
    path = f"cancellations/{made['id']}/undo"

    await buyer.at("2026-12-13 21:59")
    undone = await buyer.post(path)
    again = await buyer.post(path)

    after = await buyer.read(held["id"])
    kept = before.keys() - {"version", "updatedAt"}
    assert {n: after[n] for n in kept} == {n: before[n] for n in kept}
    assert (undone.status_code, undone.json()["status"]) == (200, "undone")
    assert again.json() == undone.json()
    assert (await buyer.told()).count("SubscriptionChanged:cancellation_undone") == 1


@pytest.mark.rule("BIL-9")
async def test_after_its_effect_nothing_is_undone(buyer: Customer):
    held = await buyer.buy()
    made = (await cancel(buyer, held)).json()

    await buyer.at("2026-12-13 22:00")
    before_sweep = await buyer.post(f"cancellations/{made['id']}/undo")
    await buyer.sweep()
    after_sweep = await buyer.post(f"cancellations/{made['id']}/undo")

    assert [one.status_code for one in (before_sweep, after_sweep)] == [409, 409]
    assert before_sweep.json()["code"] == "invalid-transition"


@pytest.mark.rule("BIL-13")
async def test_a_paused_plan_is_cancelled_at_once_with_its_banked_days(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    await buyer.post(f"subscriptions/{held['id']}/pause")
    await buyer.at("2026-12-20 10:00")

    later = await cancel(buyer, held)
    made = (await cancel(buyer, held, mode="immediate")).json()
    await buyer.number()

    print(f"banked=19 credited={made['credited']['amount']} notes={await notes(buyer)}")
    assert (later.status_code, later.json()["code"]) == (409, "billing-paused")
    assert made["credited"]["amount"] == "316.03"
    assert await notes(buyer) == [(31603, 4122)]


@pytest.mark.rule("BIL-8")
async def test_a_disputed_plan_is_not_ended_at_once(buyer: Customer):
    held = await buyer.buy()
    await buyer.rows(
        "UPDATE billing.subscription SET disputed = true WHERE organization_id = $1 RETURNING 1"
    )

    refused = await cancel(buyer, held, mode="immediate")
    later = await cancel(buyer, held)

    assert (refused.status_code, refused.json()["code"]) == (409, "billing-dispute-open")
    assert later.status_code == 202


async def test_a_trial_is_left_at_its_end_or_at_once(buyer: Customer):
    trial = (await buyer.post("trials", planCode="starter")).json()
    held = {"id": trial["subscriptionId"]}

    at_end = (await cancel(buyer, held)).json()
    at_once = (await cancel(buyer, held, mode="immediate")).json()

    shown = await buyer.get(f"trials/{trial['id']}")
    assert at_end["effectiveAt"] == trial["endsAt"]
    assert (at_once["status"], shown["status"]) == ("effective", "cancelled")
    assert (await buyer.read(held["id"]))["status"] == "ended"
    told = await buyer.told()
    assert (told.count("TrialEnded"), told.count("SubscriptionChanged:ended")) == (1, 1)


@pytest.mark.parametrize("status", ["incomplete", "incomplete_expired", "ended"])
async def test_what_does_not_run_is_not_cancelled(buyer: Customer, status: str):
    held = await buyer.buy()
    await buyer.rows(
        "UPDATE billing.subscription SET status = $2 WHERE organization_id = $1 RETURNING 1", status
    )

    answer = await cancel(buyer, held)

    assert (answer.status_code, answer.json()["from"]) == (409, status)


async def test_new_plan_can_be_bought_right_after_the_end(buyer: Customer):
    held = await buyer.buy()
    await cancel(buyer, held)
    await buyer.at("2026-12-13 22:00")

    again = await buyer.buy("professional")

    assert (again["status"], again["planCode"]) == ("active", "professional")
    assert (await buyer.read(held["id"]))["status"] == "ended"


async def test_a_planted_credit_of_today_is_found(buyer: Customer, monkeypatch: pytest.MonkeyPatch):
    plant(
        monkeypatch,
        proration,
        "unused_after",
        lambda line, day: proration.prorate(line.gross, line.span.days_from(day), line.span.days),
    )
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")

    made = (await cancel(buyer, held, mode="immediate")).json()

    assert made["credited"]["amount"] != "316.03"


async def test_a_planted_undo_that_does_not_look_at_the_clock_is_found(
    buyer: Customer, monkeypatch: pytest.MonkeyPatch
):
    held = await buyer.buy()
    made = (await cancel(buyer, held)).json()
    await buyer.at("2026-12-13 22:00")
    monkeypatch.setattr(cancellations.CancellationLifecycle.undo, "guard", None)

    answer = await buyer.post(f"cancellations/{made['id']}/undo")

    assert answer.status_code != 409


@pytest.mark.rule("BIL-7")
async def test_a_change_that_waits_behind_another_is_withdrawn_as_well(buyer: Customer):
    held = await buyer.buy()
    await buyer.post(f"subscriptions/{held['id']}/change-plan", planCode="explorer")
    asked = await buyer.post(f"subscriptions/{held['id']}/change-plan", planCode="professional")
    await buyer.pay(asked.json()["pendingChange"]["paymentId"], StatedStatus.FAILED)

    made = await cancel(buyer, held)

    assert made.status_code == 202
    assert (await buyer.read(held["id"]))["pendingChange"] is None
