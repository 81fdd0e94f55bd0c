"""A new VAT rate: decided by two persons of staff, and charged by Billing from its day on."""

from collections.abc import AsyncIterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import administration as made
from tests.factories import identity as people
from tests.factories.subscriptions import customer
from tests.planting import plant
from tests.settling import Settle
from thenga.domains.billing.services.pricing import sellers
from thenga.domains.billing.tables import Seller
from thenga.kernel.db import configuration
from thenga.kernel.db.reader import Reader
from thenga.kernel.declare.law import VAT_RATE
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day, local_midnight

pytestmark = pytest.mark.domains("billing", "administration")

PATH = "/administration/configuration"
WHY = {"reason": "The budget speech raised the rate"}


@pytest.fixture
async def law_as_it_is(host: Host, seeded: None) -> AsyncIterator[None]:
    """Other tests reckon with the rate of the law, so what is changed here is forgotten."""
    await made.clear(host, "configuration_version", "key", VAT_RATE.key)
    yield
    await made.forget_setting(host, "billing", VAT_RATE.key)


async def decided(api: httpx2.AsyncClient, host: Host, day: date) -> list[dict[str, Any]]:
    """Propose 16 per cent from a day on and have another person approve it; who acknowledged."""
    author = await people.staff(host, "platform_operator")
    approver = await people.staff(host, "platform_operator")
    body = WHY | {
        "key": VAT_RATE.key,
        "value": "16",
        "baseVersion": 0,
        "effectiveFrom": local_midnight(day).isoformat(),
    }
    created = await api.post(PATH, json=body, headers=author.headers)
    assert created.status_code == 201, created.text
    path, seen = f"{PATH}/{created.json()['id']}", {"If-Match": f'"{created.json()["version"]}"'}
    alone = await api.post(f"{path}/approve", json=WHY, headers=author.headers | seen)
    approved = await api.post(f"{path}/approve", json=WHY, headers=approver.headers | seen)
    assert (alone.json()["code"], approved.json()["phase"]) == ("same-person", "scheduled")

    async def acknowledged() -> list[dict[str, Any]] | None:
        shown = (await api.get(path, headers=author.headers)).json()
        return shown["acknowledgements"] or None

    async with Settle(host, ["administration", "billing"]) as settle:
        return await settle(acknowledged)


async def invoiced(api: httpx2.AsyncClient, host: Host, clock: Time, day: date) -> Decimal:
    """The rate on the invoice of somebody who buys a plan on a day."""
    buyer = await customer(host, api, clock, f"{day} 10:00")
    await buyer.buy()
    (listed,) = (await buyer.get("invoices"))["items"]
    invoice = await buyer.get(f"invoices/{UUID(listed['id'])}")
    (line,) = invoice["taxLines"]
    return Decimal(line["ratePct"])


async def changed(api: httpx2.AsyncClient, host: Host, clock: Time) -> tuple[str, str, int]:
    """The rates the day before and on the day, and how many domains acknowledged."""
    day = local_day(host.now()) + timedelta(days=200)
    answers = await decided(api, host, day)
    applied = [one["domain"] for one in answers if one["outcome"] == "applied"]
    assert applied == ["billing"]
    before = await invoiced(api, host, clock, day - timedelta(days=1))
    at = await invoiced(api, host, clock, day)
    return f"{before:.2f}", f"{at:.2f}", len(applied)


@pytest.mark.rule("ADM-10")
@pytest.mark.rule("BIL-5")
async def test_a_new_vat_rate_is_charged_from_its_day_on(
    api: httpx2.AsyncClient, host: Host, clock: Time, law_as_it_is: None
) -> None:
    before, at, acknowledged = await changed(api, host, clock)

    print(f"before={before} at={at} acknowledged={acknowledged}")
    assert (before, at, acknowledged) == ("15.00", "16.00", 1)


async def test_a_planted_rate_of_the_day_before_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    clock: Time,
    law_as_it_is: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def of_yesterday(read: Reader, seller: Seller, on: date) -> Decimal | None:
        return await configuration.value(read, VAT_RATE, on=on - timedelta(days=1))

    plant(monkeypatch, sellers, "seller_vat_rate", of_yesterday)

    assert await changed(api, host, clock) == ("15.00", "15.00", 1)
