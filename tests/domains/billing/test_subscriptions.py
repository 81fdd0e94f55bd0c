"""Buying a plan: it begins when it is paid, and an abandoned purchase leaves nothing."""

import asyncio
from dataclasses import replace
from typing import Any

import asyncpg
import httpx2
import pytest

from tests.conftest import Time
from tests.factories import billing, subscriptions
from tests.factories import identity as people
from tests.factories.subscriptions import Customer, customer
from tests.planting import plant
from tests.suites import clocks, flows
from thenga.domains.billing.services.payments import attempts
from thenga.domains.billing.services.subscription_state import signup_expiry
from thenga.domains.billing.tables import (
    AccountStatus,
    Book,
    CollectionMethod,
    PlanKind,
    SubscriptionStatus,
)
from thenga.domains.billing.values.provider import (
    StatedStatus,
)
from thenga.kernel.declare.job import Jobs
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    return await customer(host, api, clock, "2026-11-14 10:00")


async def numbered(buyer: Customer) -> int:
    found = await buyer.rows(
        "SELECT count(*) AS n FROM billing.invoice WHERE organization_id = $1 "
        "AND number IS NOT NULL"
    )
    return int(found[0]["n"])


@pytest.mark.rule("BIL-15")
async def test_a_plan_begins_when_its_first_payment_is_made(buyer: Customer):
    bought = await buyer.start()
    before = await numbered(buyer)
    await buyer.pay(bought["payment"]["id"])
    begun = await buyer.read(bought["id"])
    listed = await buyer.get("subscriptions?status=active&planCode=starter&kind=base")

    print(f"documents_before={before} documents_after={await numbered(buyer)}")
    assert (bought["status"], bought["access"]) == ("incomplete", "none")
    assert bought["payment"]["amount"] == {"amount": "499.00", "currency": "ZAR"}
    assert (before, await numbered(buyer)) == (0, 1)
    assert (begun["status"], begun["access"], begun["planVersion"]) == ("active", "full", 1)
    assert begun["currentPeriod"] == {
        "start": "2026-11-14",
        "end": "2026-12-14",
        "startsAt": "2026-11-13T22:00:00Z",
        "endsAt": "2026-12-13T22:00:00Z",
    }
    assert begun["anchorDate"] == "2026-11-14"
    assert [one["id"] for one in listed["items"]] == [bought["id"]]
    assert [one["move"] for one in begun["allowedMoves"]] == ["pause"]
    told = await buyer.told()
    assert [one for one in told if one.startswith("Subscription")] == [
        *("SubscriptionChanged:created", "SubscriptionChanged:activated"),
    ]
    assert "EntitlementChanged" in told


@pytest.mark.rule("BIL-15")
async def test_a_declined_first_payment_starts_nothing(buyer: Customer):
    bought = await buyer.start()

    await buyer.pay(bought["payment"]["id"], StatedStatus.FAILED)

    assert (await buyer.read(bought["id"]))["status"] == "incomplete"
    assert await numbered(buyer) == 0


@pytest.mark.rule("BIL-15")
async def test_what_is_not_paid_falls_away_after_23_hours(buyer: Customer):
    bought = await buyer.start()
    await buyer.pay(bought["payment"]["id"], StatedStatus.FAILED)

    await buyer.at("2026-11-15 08:59")
    await buyer.sweep()
    waits = await buyer.read(bought["id"])
    await buyer.at("2026-11-15 09:00")
    before_sweep = await buyer.read(bought["id"])
    await buyer.sweep()
    swept = await buyer.read(bought["id"])

    drafts = await buyer.rows("SELECT status FROM billing.invoice WHERE organization_id = $1")
    assert waits["status"] == "incomplete"
    assert before_sweep["status"] == swept["status"] == "incomplete_expired"
    assert [row["status"] for row in drafts] == ["discarded"]
    assert (await buyer.told()).count("SubscriptionChanged:expired") == 1


@pytest.mark.rule("BIL-15")
async def test_a_charge_that_runs_is_waited_for(buyer: Customer):
    bought = await buyer.start()

    await buyer.at("2026-11-15 10:00")
    await buyer.sweep()
    waits = await buyer.read(bought["id"])
    await buyer.pay(bought["payment"]["id"])
    begun = await buyer.read(bought["id"])

    assert (waits["status"], begun["status"]) == ("incomplete", "active")
    assert begun["currentPeriod"]["start"] == "2026-11-14"


@pytest.mark.rule("BIL-15")
async def test_a_new_purchase_takes_the_place_of_one_that_was_not_paid(buyer: Customer):
    first = await buyer.start()
    second = await buyer.start("professional")
    await buyer.pay(second["payment"]["id"])

    await buyer.pay(first["payment"]["id"])  # it comes after all

    statuses = {one["id"]: one["status"] for one in (await buyer.get("subscriptions"))["items"]}
    account = (await buyer.get("accounts"))["items"][0]
    print(f"statuses={sorted(statuses.values())} credit={account['creditBalance']['amount']}")
    assert statuses == {first["id"]: "incomplete_expired", second["id"]: "active"}
    assert account["creditBalance"]["amount"] == "499.00"
    assert [one["id"] for one in account["subscriptions"]] == [second["id"]]
    assert await numbered(buyer) == 1


async def test_a_second_plan_is_refused_with_the_one_that_is_there(buyer: Customer):
    held = await buyer.buy()

    answer = await buyer.post(
        "subscriptions", planCode="professional", interval="month", provider="sandbox"
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "duplicate")
    assert answer.json()["existing"]["id"] == held["id"]


@pytest.mark.rule("BIL-48")
async def test_purchases_at_once_leave_one_that_waits(buyer: Customer):
    answers = await asyncio.gather(*(buyer.start() for _ in range(4)))

    statuses = [one["status"] for one in (await buyer.get("subscriptions"))["items"]]
    print(f"purchases={len(answers)} waiting={statuses.count('incomplete')}")
    assert statuses.count("incomplete") == 1
    assert statuses.count("incomplete_expired") == 3


@pytest.mark.rule("BIL-48")
@pytest.mark.parametrize("status", ["active", "past_due", "paused", "suspended", "trialing"])
async def test_the_database_holds_one_live_base(host: Host, buyer: Customer, status: str):
    live = {"kind": PlanKind.BASE, "status": SubscriptionStatus(status)}
    await subscriptions.subscription(host, buyer.id, **live)

    with pytest.raises(asyncpg.UniqueViolationError):
        await subscriptions.subscription(host, buyer.id, **live)


async def test_a_free_plan_begins_at_once_without_a_document(buyer: Customer):
    answer = await buyer.post("subscriptions", planCode="explorer", interval="month")

    bought = answer.json()
    assert (answer.status_code, bought["status"]) == (201, "active")
    assert (bought["invoiceId"], bought["payment"]) == (None, None)
    assert await numbered(buyer) == 0


async def test_credit_pays_first(buyer: Customer):
    first = await buyer.start("professional")
    await buyer.start()
    await buyer.pay(first["payment"]["id"])  # late, so it is credit

    answer = await buyer.post("subscriptions", planCode="starter", interval="month")
    await buyer.number()

    account = (await buyer.get("accounts"))["items"][0]
    assert (answer.status_code, answer.json()["status"]) == (201, "active")
    assert answer.json()["payment"] is None
    assert account["creditBalance"]["amount"] == "1000.00"


async def test_by_invoice_it_begins_at_once_and_is_owed(
    host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None
):
    buyer = await customer(
        *(host, api, clock, "2026-11-14 10:00"),
        collection_method=CollectionMethod.SEND_INVOICE,
    )

    bought = (await buyer.post("subscriptions", planCode="starter", interval="month")).json()
    await buyer.number()

    owed = await buyer.rows(
        "SELECT status, amount_due_minor FROM billing.invoice WHERE organization_id = $1"
    )
    assert (bought["status"], bought["payment"]) == ("active", None)
    assert [tuple(row) for row in owed] == [("open", 49900)]


async def test_an_addon_stands_beside_the_plan_once(buyer: Customer):
    await buyer.buy()
    boost = await buyer.buy("ai-boost")

    method = str(buyer.method_id)
    again = await buyer.post(
        "subscriptions", planCode="ai-boost", interval="month", paymentMethodId=method
    )

    assert (boost["status"], boost["kind"]) == ("active", "addon")
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"planCode": "nothing-such"}, "billing-plan-not-available"),
        ({"planCode": "ai-boost", "interval": "year"}, "billing-plan-not-available"),
        ({"provider": None}, "billing-payment-method-required"),
        ({"provider": "paystack"}, "billing-provider-not-allowed"),
    ],
)
async def test_what_cannot_be_bought_is_refused(buyer: Customer, body: dict[str, Any], code: str):
    asked = {"planCode": "starter", "interval": "month", "provider": "sandbox"} | body

    answer = await buyer.post("subscriptions", **asked)

    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert (await buyer.get("subscriptions"))["items"] == []


@pytest.mark.rule("BIL-26")
async def test_nobody_is_billed_before_it_is_said_who(
    host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None
):
    buyer = Customer(host, api, clock)
    await buyer.at("2026-11-14 10:00")
    await billing.account(host, buyer.id, status=AccountStatus.PROVISIONAL, book=Book.SANDBOX)

    answer = await buyer.post(
        "subscriptions", planCode="starter", interval="month", provider="sandbox"
    )

    told = (answer.status_code, answer.json()["code"])
    assert told == (422, "billing-tax-data-missing")


@pytest.mark.rule("BIL-51")
async def test_a_parked_account_buys_and_changes_nothing(buyer: Customer):
    held = await buyer.buy()
    await buyer.rows(
        """UPDATE billing.account SET parked = '{"reason": "ledger", "since": "2026-11-14"}' """
        "WHERE organization_id = $1 RETURNING 1"
    )

    answer = await buyer.post(f"subscriptions/{held['id']}/change-plan", planCode="professional")

    assert (answer.status_code, answer.json()["code"]) == (409, "billing-account-parked")
    assert (await buyer.read(held["id"]))["access"] == "full"


async def test_another_organization_finds_nothing(
    host: Host, api: httpx2.AsyncClient, clock: Time, buyer: Customer
):
    held = await buyer.buy()
    made = (await buyer.post(f"subscriptions/{held['id']}/cancel", reasonCode="other")).json()
    stranger = await customer(host, api, clock, "2026-11-14 10:00")

    path = f"subscriptions/{held['id']}"
    answers = [
        await api.get(f"/billing/{path}", headers=stranger.headers),
        await api.get(f"/billing/cancellations/{made['id']}", headers=stranger.headers),
        await stranger.post(f"cancellations/{made['id']}/undo"),
        await stranger.post(f"{path}/cancel", reasonCode="other"),
        await stranger.post(f"{path}/pause"),
        await stranger.post(f"{path}/change-plan", planCode="starter"),
        await stranger.post(f"{path}/change-plan/preview", planCode="starter"),
    ]

    assert [one.status_code for one in answers] == [404] * 7


def _sweeping() -> Domain:
    """Billing with its sweep of subscriptions alone, so that nobody else's work is waited for."""
    (domain,) = clocks.quick_of("billing")
    assert domain.jobs is not None
    jobs = Jobs("billing")
    for name in ("find_to_move_subscription", "move_subscription"):
        jobs.declared[name] = domain.jobs.declared[name]
    return replace(domain, jobs=jobs)


async def test_the_workers_own_sweep_ends_what_is_over(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    """By the sweep of the worker, on the clock of a sandbox."""
    owner = await people.member(host, (made := billing.new_id()), role="owner", sandbox=True)
    headers = owner.headers | {"X-Organization-Id": str(made)}
    await billing.account(host, made, book=Book.SANDBOX)
    body = {"planCode": "explorer", "interval": "month"}
    held = (await api.post("/billing/subscriptions", json=body, headers=headers)).json()
    path = f"/billing/subscriptions/{held['id']}"
    await api.post(f"{path}/cancel", json={"reasonCode": "other"}, headers=headers)
    async with host.engines.connection("billing", "billing_system") as connection:
        await connection.execute(
            "INSERT INTO billing.clock_offset (organization_id, ahead, sequence) "
            "VALUES ($1, interval '40 days', 1)",
            made,
        )

    async def ended() -> bool:
        async with host.engines.connection("billing", "billing_system") as connection:
            query = "SELECT status FROM billing.subscription WHERE organization_id = $1"
            return bool(await connection.fetchval(query, made) == "ended")

    async with clocks.running([JobSide(host, [_sweeping()])]):
        await flows.until(ended)
    assert (await api.get(path, headers=headers)).json()["status"] == "ended"


async def test_database_refuses_a_planted_second_purchase(
    buyer: Customer, monkeypatch: pytest.MonkeyPatch
):
    async def leaves_it(*_: Any) -> None:
        return None

    await buyer.start()
    plant(monkeypatch, signup_expiry, "expire_previous_signup", leaves_it)

    answer = await buyer.post(
        "subscriptions", planCode="starter", interval="month", provider="sandbox"
    )

    assert answer.status_code == 409


async def test_planted_expiry_during_a_charge_is_found(
    buyer: Customer, monkeypatch: pytest.MonkeyPatch
):
    async def never(*_: Any) -> None:
        return None

    bought = await buyer.start()
    plant(monkeypatch, attempts, "charge_in_progress", never)

    await buyer.at("2026-11-15 10:00")

    assert (await buyer.read(bought["id"]))["status"] != "incomplete"
