"""Previews: whatever change-plan answers is shown beforehand, with the VAT of its documents."""

from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.billing.changing import change, documents, figures, paid_change, preview, rand
from tests.factories import billing
from tests.factories import documents as made_documents
from tests.factories.settings import change_setting
from tests.factories.subscriptions import Customer, customer
from thenga.domains.billing.manifest import DOMAIN
from thenga.domains.billing.services.customer import account_lock
from thenga.domains.billing.settings import SELLER
from thenga.kernel.declare.law import VAT_RATE
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_midnight

# Days that no other test ever reaches, so nobody else meets these values.
NEW_RATE, NEW_SELLER = date(2098, 4, 1), date(2099, 1, 1)


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    return await customer(host, api, clock, "2026-11-14 10:00")


@pytest.fixture
async def later(host: Host, seeded: None) -> AsyncIterator[None]:
    """Another rate of VAT from a day on, and after it a seller without a VAT number."""
    seller = await made_documents.seller(host, vat_number=None)
    await _from_then_on(host, rate="15.5", seller=seller)
    yield
    await _from_then_on(host, rate="15", seller=SELLER.default)


async def _from_then_on(host: Host, *, rate: str, seller: str) -> None:
    for setting, day, value in ((VAT_RATE, NEW_RATE, rate), (SELLER, NEW_SELLER, seller)):
        await change_setting(host, DOMAIN, setting, value, effective_from=local_midnight(day))


async def refused(buyer: Customer, held: Any, **body: Any) -> list[tuple[int, str]]:
    """What the preview and the change itself are answered with."""
    shown = await buyer.post(f"subscriptions/{held['id']}/change-plan/preview", **body)
    asked = await change(buyer, held, **body)
    return [(one.status_code, one.json()["code"]) for one in (shown, asked)]


@pytest.mark.rule("BIL-11")
async def test_in_a_trial_another_plan_is_shown_and_costs_nothing(buyer: Customer):
    trial = (await buyer.post("trials", planCode="starter")).json()
    held = {"id": trial["subscriptionId"]}
    await buyer.at("2026-11-20 10:00")

    shown = await preview(buyer, held, planCode="professional")
    asked = await change(buyer, held, planCode="professional", expectedAmountDue=rand("0.00"))

    won = [one["key"] for one in shown["comparedTo"]["entitlements"] if one["change"] == "gained"]
    assert (shown["planCode"], shown["interval"], shown["direction"]) == (
        *("professional", None, "up"),
    )
    assert (shown["effective"], shown["effectiveOn"]) == ("now", "2026-11-20")
    assert (shown["creditNote"], shown["invoice"], shown["amountDue"]) == (None, None, rand("0.00"))
    assert (shown["period"]["end"], shown["days"]["left"]) == ("2026-11-29", 0)
    assert "analytics.briefings" in won
    assert (asked.status_code, asked.json()["planCode"]) == (200, "professional")


@pytest.mark.rule("BIL-11")
async def test_in_a_trial_both_refuse_the_same(buyer: Customer):
    trial = (await buyer.post("trials", planCode="starter")).json()
    held = {"id": trial["subscriptionId"]}

    same = await refused(buyer, held, planCode="starter")
    dear = await refused(buyer, held, planCode="professional", expectedAmountDue=rand("666.66"))
    await buyer.post(
        f"trials/{trial['id']}/convert", interval="month", paymentMethodId=str(buyer.method_id)
    )
    charged = await refused(buyer, held, planCode="professional")

    assert same == [(422, "billing-plan-not-available")] * 2
    assert dear == [(409, "billing-quote-changed")] * 2
    assert charged == [(409, "billing-payment-in-progress")] * 2


@pytest.mark.rule("BIL-11")
async def test_what_waits_for_its_payment_stands_before_another_change(buyer: Customer):
    held = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    await change(buyer, held, planCode="professional")

    assert (
        await refused(buyer, held, planCode="enterprise")
        == [(409, "billing-payment-in-progress")] * 2
    )


@pytest.mark.rule("BIL-51")
async def test_a_parked_account_is_shown_no_price(buyer: Customer):
    held = await buyer.buy()
    work = billing.working(buyer.host, buyer.id)
    account = await account_lock.lock_account(work)
    account.parked = {"reason": "test", "since": work.now.isoformat()}
    await work.save(account)
    await work.finish()

    assert (
        await refused(buyer, held, planCode="professional") == [(409, "billing-account-parked")] * 2
    )


@pytest.mark.rule("BIL-5")
@pytest.mark.rule("BIL-27")
async def test_credit_keeps_the_vat_rate_of_its_invoice(
    host: Host, api: httpx2.AsyncClient, clock: Time, later: None
):
    buyer = await customer(host, api, clock, "2098-03-14 10:00")
    held = await buyer.buy()
    await buyer.at("2098-04-04 10:00")

    shown = await paid_change(buyer, held, planCode="professional")

    issued = await documents(buyer)
    print(f"preview={figures(shown)[:4]} documents={issued}")
    assert figures(shown)[:4] == ["160.97", "21.00", "483.55", "64.89"]
    assert sorted(issued[1:]) == [("CN", 16097, 2100), ("TI", 48355, 6489)]


@pytest.mark.rule("BIL-5")
async def test_a_seller_without_vat_number_shows_none(
    host: Host, api: httpx2.AsyncClient, clock: Time, later: None
):
    buyer = await customer(host, api, clock, "2099-02-01 10:00")
    trial = (await buyer.post("trials", planCode="starter")).json()
    plan = await buyer.get("plans/starter")
    listed = await buyer.get("plans?kind=base&interval=month")
    await buyer.post(f"trials/{trial['id']}/cancel")
    held = await buyer.buy()
    await buyer.at("2099-02-10 10:00")

    shown = await preview(buyer, held, planCode="professional")

    prices = [trial["conversion"][0], plan["prices"][0]]
    prices += [one for found in listed["items"] for one in found["prices"]]
    documents_ = [shown["creditNote"], shown["invoice"]]
    assert {one["vat"]["amount"] for one in prices + documents_} == {"0.00"}
