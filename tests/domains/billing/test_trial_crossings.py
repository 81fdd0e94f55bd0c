"""Trials that meet something else: a cancellation, another plan, a sign-up that was not paid."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import paying
from tests.factories.paying import Payer
from thenga.domains.billing.services.trials import trials
from thenga.domains.billing.tables import Subscription, Trial
from thenga.kernel.process.host import Host

STARTED = datetime(2026, 11, 14, 8, tzinfo=UTC)
ENDS = datetime(2026, 11, 28, 22, tzinfo=UTC)
RETURN = "https://app.thenga.example/billing/paid"
LEAVING = {"reasonCode": "too_expensive"}


class Trier:
    """Somebody who tries a plan, with a card on file, at the application's door."""

    def __init__(self, api: httpx2.AsyncClient, host: Host, payer: Payer, trial: Trial) -> None:
        self.api, self.host, self.payer, self.trial = api, host, payer, trial

    async def post(self, path: str, **body: Any) -> httpx2.Response:
        headers = await paying.owner_of(self.host, self.payer)
        return await self.api.post(f"/billing/{path}", json=body, headers=headers)

    async def convert(self, **body: Any) -> httpx2.Response:
        return await self.post(f"trials/{self.trial.id}/convert", interval="month", **body)

    async def by_card(self) -> httpx2.Response:
        return await self.convert(paymentMethodId=str(self.payer.method.id))

    async def of_subscription(self, what: str, **body: Any) -> httpx2.Response:
        return await self.post(f"subscriptions/{self.trial.subscription_id}/{what}", **body)

    async def get(self, path: str) -> Any:
        headers = await paying.owner_of(self.host, self.payer)
        return (await self.api.get(f"/billing/{path}", headers=headers)).json()

    async def shown(self) -> Any:
        return await self.get(f"trials/{self.trial.id}")

    async def subscription(self) -> Subscription:
        found: Subscription = await self.payer.read(Subscription, self.trial.subscription_id)
        return found

    async def documents(self) -> list[tuple[str, int]]:
        found = await self.payer.rows(
            "SELECT status, gross_minor FROM billing.invoice WHERE organization_id = $1 ORDER BY id"
        )
        return [tuple(one) for one in found]


async def trying(
    api: httpx2.AsyncClient, host: Host, clock: Time, plan: str = "professional"
) -> Trier:
    payer = await paying.payer(host, clock, STARTED)
    work = payer.work()
    trial = await trials.start_trial(work, plan_code=plan)
    await work.finish()
    return Trier(api, host, payer, trial)


# --- a cancellation -------------------------------------------------------------------------------


@pytest.mark.rule("BIL-7")
@pytest.mark.rule("BIL-18")
async def test_cancelling_a_chosen_purchase_avoids_the_charge(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock)
    await trier.convert(when="trial_end")

    left = await trier.of_subscription("cancel", **LEAVING)
    shown = await trier.shown()
    await trier.payer.at(ENDS)

    cancelled = await trier.payer.rows(
        "SELECT status FROM billing.cancellation WHERE organization_id = $1"
    )
    print(f"charged={len(trier.payer.charged)} {(await trier.subscription()).status}")
    assert (left.status_code, left.json()["effectiveAt"]) == (202, "2026-11-28T22:00:00Z")
    assert (shown["status"], shown["chosenInterval"]) == ("active", None)
    assert (trier.payer.charged, await trier.documents()) == ([], [])
    assert (await trier.subscription()).status == "ended"
    assert (await trier.payer.read(Trial, trier.trial.id)).status == "expired"
    assert [one["status"] for one in cancelled] == ["effective"]


@pytest.mark.rule("BIL-9")
async def test_a_cancellation_that_is_undone_leaves_what_was_chosen(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock)
    await trier.convert(when="trial_end")
    left = (await trier.of_subscription("cancel", **LEAVING)).json()

    await trier.post(f"cancellations/{left['id']}/undo")
    await trier.payer.at(ENDS)

    assert len(trier.payer.charged) == 1
    assert (await trier.subscription()).status == "active"


@pytest.mark.rule("BIL-7")
async def test_a_trial_that_is_cancelled_is_bought_when_that_is_undone(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock)
    left = (await trier.of_subscription("cancel", **LEAVING)).json()

    refused = await trier.by_card()
    await trier.post(f"cancellations/{left['id']}/undo")
    bought = await trier.by_card()
    await trier.payer.at(ENDS)

    now = await trier.subscription()
    assert (refused.status_code, refused.json()["code"]) == (409, "invalid-transition")
    assert refused.json()["cancellationId"] == left["id"]
    assert bought.status_code == 200
    assert (now.status, now.cancel_at, str(now.period_end)) == ("active", None, "2026-12-14")


@pytest.mark.rule("BIL-7")
async def test_cancelling_waits_for_a_charge_and_drops_open_purchase(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock)
    trier.payer.card = "silent"
    await trier.by_card()

    charging = await trier.of_subscription("cancel", **LEAVING)
    trier.payer.card = "soft"
    await trier.payer.settle()
    after = await trier.of_subscription("cancel", **LEAVING)

    assert (charging.status_code, charging.json()["code"]) == (409, "billing-payment-in-progress")
    assert after.status_code == 202
    assert await trier.documents() == [("discarded", 149900)]


# --- another plan ---------------------------------------------------------------------------------


@pytest.mark.rule("BIL-11")
@pytest.mark.rule("BIL-18")
async def test_purchase_of_one_plan_does_not_pay_for_another(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock, "starter")
    waits = await trier.convert(provider="sandbox", returnUrl=RETURN)

    turned = await trier.of_subscription("change-plan", planCode="enterprise")
    await trier.payer.answer(UUID(waits.json()["payment"]["id"]), "ok")
    await trier.payer.settle()

    now, account = await trier.subscription(), await trier.get("accounts")
    print(f"{now.plan_code} {now.status} credit={account['items'][0]['creditBalance']['amount']}")
    assert (waits.status_code, turned.status_code) == (200, 200)
    assert (now.status, now.plan_code) == ("trialing", "enterprise")
    assert await trier.documents() == [("discarded", 49900)]
    assert account["items"][0]["creditBalance"]["amount"] == "499.00"


@pytest.mark.rule("BIL-11")
async def test_the_plan_that_is_tried_stays_while_it_is_charged(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock, "starter")
    trier.payer.card = "silent"
    await trier.by_card()

    refused = await trier.of_subscription("change-plan", planCode="enterprise")
    trier.payer.card = "ok"
    await trier.payer.settle()

    now = await trier.subscription()
    assert (refused.status_code, refused.json()["code"]) == (409, "billing-payment-in-progress")
    assert (now.status, now.plan_code) == ("active", "starter")


@pytest.mark.rule("BIL-11")
async def test_a_trial_that_is_over_is_not_switched(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock, "starter")
    clock.set(ENDS)  # before any sweep

    refused = await trier.of_subscription("change-plan", planCode="enterprise")

    assert (refused.status_code, refused.json()["from"]) == (409, "expired")


@pytest.mark.rule("BIL-18")
async def test_what_is_paid_is_what_begins(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock, "starter")
    trier.payer.card = "silent"
    await trier.by_card()
    work = trier.payer.work()
    planted = await work.lock(Subscription, trier.trial.subscription_id)
    planted.plan_code = "enterprise"  # whatever has turned it while the money was on its way
    await work.save(planted)
    await work.finish()

    trier.payer.card = "ok"
    await trier.payer.settle()

    now = await trier.subscription()
    assert (now.status, now.plan_code) == ("active", "starter")


# --- a sign-up that was not paid ------------------------------------------------------------------


@pytest.mark.rule("BIL-15")
@pytest.mark.rule("BIL-33")
async def test_trial_replaces_a_sign_up_and_its_money_is_credit(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    payer = await paying.payer(host, clock, STARTED)
    headers = await paying.owner_of(host, payer)
    plan = {"planCode": "starter", "interval": "month", "paymentMethodId": str(payer.method.id)}
    signed = await api.post("/billing/subscriptions", json=plan, headers=headers)

    tried = await api.post("/billing/trials", json={}, headers=headers)
    await payer.settle()

    account = (await api.get("/billing/accounts", headers=headers)).json()["items"][0]
    former = await payer.read(Subscription, UUID(signed.json()["id"]))
    (paid,) = await payer.rows("SELECT status FROM billing.payment WHERE organization_id = $1")
    print(f"{former.status} payment={paid['status']} credit={account['creditBalance']['amount']}")
    assert (signed.status_code, tried.status_code) == (201, 201)
    assert (former.status, paid["status"]) == ("incomplete_expired", "succeeded")
    assert account["creditBalance"]["amount"] == "499.00"
    assert [one["status"] for one in account["subscriptions"]] == ["trialing"]


@pytest.mark.rule("BIL-18")
async def test_purchase_before_a_sweep_finds_the_chosen_conversion(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock)
    await trier.convert(when="trial_end")
    await trier.payer.at(ENDS - timedelta(minutes=1))
    clock.set(ENDS)
    card = str(trier.payer.method.id)

    refused = await trier.post(
        "subscriptions", planCode="starter", interval="month", paymentMethodId=card
    )
    await trier.payer.at(ENDS)

    now = await trier.subscription()
    assert (refused.status_code, refused.json()["code"]) == (409, "duplicate")
    assert (now.status, now.plan_code, len(trier.payer.charged)) == ("active", "professional", 1)


@pytest.mark.rule("BIL-15")
async def test_purchase_before_a_sweep_follows_an_ended_trial(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock)
    clock.set(ENDS)
    card = str(trier.payer.method.id)

    bought = await trier.post(
        "subscriptions", planCode="starter", interval="month", paymentMethodId=card
    )

    assert bought.status_code == 201
    assert (await trier.payer.read(Trial, trier.trial.id)).status == "expired"
    assert (await trier.subscription()).status == "ended"


@pytest.mark.rule("BIL-18")
async def test_the_card_that_bought_a_trial_pays_its_renewals(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
):
    trier = await trying(api, host, clock)
    other = await paying.card(host, trier.payer.account, preferred=False)

    await trier.convert(paymentMethodId=str(other.id))
    await trier.payer.settle()
    await trier.payer.at(datetime(2026, 12, 14, 8, tzinfo=UTC))

    assert (await trier.subscription()).payment_method_id == other.id
    assert [one.payment_method_id for one in trier.payer.charged] == [other.id] * 2
