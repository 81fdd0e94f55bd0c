"""What cannot be billed is parked and waits: no day is given away, and none is billed twice."""

from typing import Any

import httpx2
import pytest
from structlog.testing import capture_logs

from tests.conftest import Time
from tests.factories.subscriptions import Customer, customer
from thenga.kernel.host import Host

ADDRESS = {"line1": "12 Industria Road", "city": "Roodepoort", "postalCode": "1709"}


async def account(buyer: Customer) -> Any:
    (found,) = (await buyer.get("accounts"))["items"]
    return found


async def patch(buyer: Customer, **body: Any) -> Any:
    known = await account(buyer)
    match = buyer.headers | {"If-Match": f'"{known["version"]}"'}
    path = f"/billing/accounts/{known['id']}"
    answer = await buyer.api.patch(path, json=body, headers=match)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def renewed(buyer: Customer) -> list[tuple[str, str, int]]:
    """The lines of renewals: their days, and what they cost in cents."""
    found = await buyer.rows(
        "SELECT line.service_from, line.service_to, line.gross_minor "
        "FROM billing.invoice_line AS line JOIN billing.invoice ON invoice.id = line.invoice_id "
        "WHERE line.organization_id = $1 AND purpose = 'renewal' AND line.kind = 'recurring' "
        "ORDER BY line.service_from"
    )
    return [(str(row[0]), str(row[1]), row[2]) for row in found]


async def without_address(
    host: Host, api: httpx2.AsyncClient, clock: Time
) -> tuple[Customer, Any, list[Any]]:
    """Professional by the year, to be renewed as starter, without the address that it needs."""
    buyer = await customer(host, api, clock, "2026-11-14 10:00")
    bought = await buyer.buy("enterprise", "year")
    path = f"subscriptions/{bought['id']}"
    assert (await buyer.post(f"{path}/change-plan", planCode="professional")).status_code == 200
    await patch(buyer, billTo={"address": None})
    await buyer.at("2027-11-13 22:00")
    with capture_logs() as logs:
        await buyer.sweep(bought["id"])
    return buyer, bought, [one for one in logs if one["event"] == "billing.account.parked"]


@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-26")
@pytest.mark.rule("BIL-51")
async def test_a_year_that_lacks_an_address_waits_and_is_billed_once_it_is_there(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    buyer, bought, alarms = await without_address(host, api, clock)
    parked, waits = await account(buyer), await buyer.read(bought["id"])
    before = await renewed(buyer)
    await buyer.at("2027-11-20 10:00")
    freed = await patch(buyer, billTo={"address": ADDRESS})
    await buyer.sweep(bought["id"])
    now = await buyer.read(bought["id"])

    print(f"parked={parked['parked']['reason']} alarms={len(alarms)} billed={await renewed(buyer)}")
    assert (parked["parked"]["reason"], len(alarms)) == ("tax_data_missing", 1)
    assert (waits["planCode"], waits["pendingChange"]["status"]) == ("enterprise", "scheduled")
    assert (waits["currentPeriod"]["end"], waits["access"], before) == ("2027-11-14", "full", [])
    assert freed["parked"] is None
    assert await renewed(buyer) == [("2027-11-14", "2028-11-14", 1499000)]
    assert (now["planCode"], now["currentPeriod"]["end"]) == ("professional", "2028-11-14")


@pytest.mark.rule("BIL-51")
async def test_what_does_not_say_where_they_are_frees_nobody(
    api: httpx2.AsyncClient, host: Host, clock: Time, seeded: None
):
    buyer, _, _ = await without_address(host, api, clock)

    named = await patch(buyer, billTo={"tradingName": "Mokoena"}, orderNumber="PO 7")

    assert named["parked"]["reason"] == "tax_data_missing"
