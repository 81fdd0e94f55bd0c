"""Usage near 2^63: totals stop, charges stop, and no answer is a 500 or a wrapped number."""

from collections import Counter
from decimal import Decimal
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.domains.billing.test_usage import record, total
from tests.factories import billing, held
from tests.factories import identity as people
from tests.factories.held import RUNS, SMS
from thenga.domains.billing.services.metering import totals
from thenga.domains.billing.services.pricing import overage
from thenga.domains.billing.services.usage import charges as usage_charges
from thenga.domains.billing.tables import Subscription
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

EDGE = 2**63 - 1


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    who = await people.member(host, uuid4(), role="owner")
    await held.subscribed(host, who.organization_id)
    return who


@pytest.fixture
async def reporter(host: Host, owner: people.Member) -> dict[str, str]:
    staff = await people.staff(host, "platform_operator")
    return staff.headers | {"X-Organization-Id": str(owner.organization_id)}


async def raise_totals(host: Host, organization_id: UUID, to: int) -> None:
    async with host.engines.connection("billing", "billing_system") as connection:
        await connection.execute(
            "UPDATE billing.usage_total SET quantity = $2 WHERE organization_id = $1",
            organization_id,
            to,
        )


@pytest.mark.parametrize("quantity", [10**9 + 1, 2**31, 2**53, 2**63 - 1, 2**63, 10**30, -1, 0])
async def test_a_quantity_beyond_its_bounds_is_refused(
    api: httpx2.AsyncClient,
    host: Host,
    reporter: dict[str, str],
    quantity: int,
):
    body = {"records": [record(host, "a", quantity)]}

    answer = await api.post("/billing/usage", json=body, headers=reporter)

    refused = answer.status_code == 422 or answer.json()["rejected"] == 1
    assert answer.status_code in (200, 422)
    assert refused


@pytest.mark.parametrize("to", [EDGE, EDGE - 1, 10**18, 10**15, 10**15 - 1])
async def test_a_total_near_the_edge_stops_and_never_wraps(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    reporter: dict[str, str],
    to: int,
):
    within = owner.headers | {"X-Organization-Id": str(owner.organization_id)}
    first = [record(host, f"{meter}-1", 1, meter=meter) for meter in (RUNS, SMS)]
    await api.post("/billing/usage", json={"records": first}, headers=reporter)
    await raise_totals(host, owner.organization_id, to)
    found = (await api.get("/billing/subscriptions", headers=within)).json()["items"]
    subscription = found[0]["id"]

    again = [record(host, f"{meter}-2", 10**9, meter=meter) for meter in (RUNS, SMS)]
    reserved = {"meter": RUNS, "quantity": 10**9, "key": "r"}
    answers = [
        await api.post("/billing/usage", json={"records": again}, headers=reporter),
        await api.post("/billing/usage/reservations", json=reserved, headers=reporter),
        await api.get(f"/billing/subscriptions/{subscription}/usage", headers=within),
        await api.get("/billing/usage-records", headers=within),
        await api.get("/billing/entitlements", headers=within),
    ]

    codes = Counter(one.status_code for one in answers)
    counted = await total(host, owner)
    print(f"at={to} answers={dict(codes)} total={counted}")
    assert not [code for code in codes if code >= 500]
    assert 10**9 <= counted <= totals.MOST
    work = billing.working(host, owner.organization_id)
    row = await work.get(Subscription, UUID(subscription))
    lines = await usage_charges.unbilled_lines(work, row)
    await work.close()
    assert all(0 < line.gross.minor <= 10**15 for line in lines)


def test_a_charge_beyond_reason_stops_at_the_most():
    charges = [
        overage.price_units(count, Decimal(price))
        for count in (1, 10**9, 10**15, EDGE)
        for price in ("0.000001", "1.50", "999999999999")
    ]

    assert max(charges) == Money(10**15, "ZAR")
    assert overage.overage_cost([(EDGE, Decimal("1.50"))] * 100) == Money(10**17, "ZAR")
    assert overage.units_affordable(Money(10**17, "ZAR"), Decimal("0.000001")) == 10**15
    assert overage.price_units(12345, Decimal("0.004")) == Money.of("49.38")
