"""What would help, with its price today: as the preview says it, and as it is charged (BIL-46)."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.conftest import Time
from tests.domains.billing.changing import paid_change, preview
from tests.factories import billing, held
from tests.factories.held import RUNS, SEATS, SMS
from tests.factories.subscriptions import Customer, customer
from thenga.domains.billing.services.accounts import accounts
from thenga.domains.billing.services.customer import account_lock
from thenga.domains.billing.services.entitlements import grants
from thenga.domains.billing.services.metering import totals
from thenga.kernel.process.host import Host

BRIEFINGS = "analytics.briefings"


@pytest.fixture
async def buyer(host: Host, api: httpx2.AsyncClient, clock: Time, seeded: None) -> Customer:
    return await customer(host, api, clock, "2026-11-14 10:00")


async def remedy(buyer: Customer, feature: str) -> dict[str, Any]:
    said = await buyer.get(f"signal?feature={feature}")
    assert said["entitled"] is False, said
    found: dict[str, Any] = said["remedy"]
    return found


async def use(buyer: Customer, meter: str, quantity: int) -> None:
    entry = held.entry(meter, quantity=quantity, at=buyer.host.now())
    await held.used(buyer.host, buyer.id, [entry])


async def cap(buyer: Customer, minor: int) -> None:
    work = billing.working(buyer.host, buyer.id)
    account = await account_lock.lock_account(work)
    await accounts.change_account(work, account.id, fields={"spend_cap_minor": minor})
    await work.finish()


def told(found: dict[str, Any]) -> tuple[str, str | None, str | None]:
    today = found["amountToday"]
    return found["kind"], found["planCode"], today and today["amount"]


@pytest.mark.rule("BIL-46")
@pytest.mark.rule("BIL-23")
async def test_at_the_spend_cap_the_plan_that_includes_more_helps(buyer: Customer):
    bought = await buyer.buy("professional")
    await cap(buyer, 1500)
    await use(buyer, RUNS, 510)  # 10 x 1.50

    await buyer.at("2026-11-24 10:00")
    found = await remedy(buyer, RUNS)
    shown = await preview(buyer, bought, planCode="enterprise")

    assert told(found) == ("upgrade", "enterprise", shown["amountDue"]["amount"])


@pytest.mark.rule("BIL-46")
@pytest.mark.rule("BIL-23")
async def test_at_the_spend_cap_of_the_largest_plan_one_waits(buyer: Customer):
    await buyer.buy("enterprise")
    await cap(buyer, 500)
    await use(buyer, SMS, 1010)  # 10 x 0.50

    found = await remedy(buyer, SMS)

    assert (told(found), found["at"]) == (("wait", None, None), "2026-12-13T22:00:00Z")


@pytest.mark.rule("BIL-46")
async def test_goodwill_goes_with_one_to_the_next_plan(buyer: Customer):
    bought = await buyer.buy()
    work = billing.working(buyer.host, buyer.id)
    until = work.now + timedelta(days=60)
    await grants.issue_grant(work, entitlement=SEATS, value=9, expires_at=until, reason="Goodwill.")
    await totals.set_gauge(work, SEATS, 12, counted_at=work.now)
    await work.finish()

    found = await remedy(buyer, SEATS)  # 10 + 9
    shown = await preview(buyer, bought, planCode="professional")

    assert told(found) == ("upgrade", "professional", shown["amountDue"]["amount"])


@pytest.mark.rule("BIL-46")
@pytest.mark.rule("BIL-13")
async def test_after_a_pause_an_upgrade_costs_what_the_preview_says(buyer: Customer):
    bought = await buyer.buy()
    await buyer.at("2026-11-24 10:00")
    await buyer.post(f"subscriptions/{bought['id']}/pause")
    await buyer.at("2027-01-10 10:00")
    await buyer.post(f"subscriptions/{bought['id']}/resume")

    found = await remedy(buyer, BRIEFINGS)
    charged = await paid_change(buyer, bought, planCode="professional")

    print(f"remedy={found['amountToday']['amount']} charged={charged['amountDue']['amount']}")
    assert told(found) == ("upgrade", "professional", "633.34")
    assert charged["amountDue"]["amount"] == "633.34"


@pytest.mark.rule("BIL-46")
async def test_from_a_free_plan_the_days_left_are_paid(buyer: Customer):
    answer = await buyer.post("subscriptions", planCode="explorer", interval="month")
    await buyer.at("2026-11-24 10:00")

    found = await remedy(buyer, BRIEFINGS)
    shown = await preview(buyer, answer.json(), planCode="professional")

    assert told(found) == ("upgrade", "professional", "999.33")
    assert shown["amountDue"]["amount"] == "999.33"


@pytest.mark.rule("BIL-46")
@pytest.mark.rule("BIL-11")
async def test_whoever_tries_a_plan_tries_another_for_nothing(buyer: Customer):
    await buyer.post("trials", planCode="starter")

    found = await remedy(buyer, BRIEFINGS)

    assert told(found) == ("upgrade", "professional", "0.00")
