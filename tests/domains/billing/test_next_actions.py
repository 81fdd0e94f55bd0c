"""Where the customer pays: said alike by whatever begins a payment, and found without asking."""

from typing import Any

import httpx2
import pytest

from tests.domains.billing.paying import RETURN, owner, paystack, within
from tests.factories import identity as people
from tests.providers.loopback import worker
from tests.providers.servers import PaystackServer
from tests.suites import flows
from thenga.kernel.process.host import Host

__all__ = ["owner", "paystack"]
AT_PAYSTACK = {"interval": "month", "provider": "paystack", "returnUrl": RETURN}
TRIED = {"planCode": "starter"}
BY_EFT = {"interval": "month", "provider": "eft"}


async def bought(api: httpx2.AsyncClient, owner: people.Member, how: dict[str, str]) -> Any:
    body = {"planCode": "starter"} | how
    answer = await api.post("/billing/subscriptions", json=body, headers=within(owner))
    assert answer.status_code == 201, answer.text
    return answer.json()["payment"]


async def converted(api: httpx2.AsyncClient, owner: people.Member, how: dict[str, str]) -> Any:
    trial = (await api.post("/billing/trials", json=TRIED, headers=within(owner))).json()
    answer = await api.post(
        f"/billing/trials/{trial['id']}/convert", json=how, headers=within(owner)
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["payment"]


@pytest.mark.rule("BIL-30")
@pytest.mark.parametrize("begin", [bought, converted], ids=["bought", "converted"])
async def test_the_path_of_a_payment_leads_to_the_page_of_the_provider(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    paystack: PaystackServer,
    begin: Any,
):
    payment = await begin(api, owner, AT_PAYSTACK)
    found: dict[str, Any] = {}

    async def told() -> bool:
        answer = await api.get(payment["path"].removeprefix("/v1"), headers=within(owner))
        found.update(answer.json())
        return bool(found["status"] == "requires_action")

    async with worker(host):
        await flows.until(told)

    assert (payment["status"], payment["nextAction"]) == ("created", None)
    assert payment["path"] == f"/v1/billing/payments/{payment['id']}"
    assert (found["id"], found["nextAction"]["kind"]) == (payment["id"], "redirect")


@pytest.mark.parametrize("begin", [bought, converted], ids=["bought", "converted"])
async def test_what_is_known_at_once_is_said_in_the_same_words(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, begin: Any
):
    payment = await begin(api, owner, BY_EFT)
    read = await api.get(f"/billing/payments/{payment['id']}", headers=within(owner))

    assert payment["status"] == "requires_action"
    assert payment["nextAction"]["kind"] == "bank_transfer"
    assert payment["nextAction"] == read.json()["nextAction"]
