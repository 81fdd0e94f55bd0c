"""A bid that was won becomes one award that a contract can be opened from."""

from typing import Any

import httpx2
import pytest

from tests.factories import bid as factory
from tests.settling import Settle
from thenga.domains.bid.tables import WorkspaceStatus
from thenga.kernel.process.host import Host

pytestmark = pytest.mark.domains("bid", "contract")

WON = {
    "result": "won",
    "awardReference": "AW 12",
    "awardedValue": {"amount": "494041.60", "currency": "ZAR"},
    "decidedOn": "2027-05-03",
}


@pytest.mark.settles("bid", "contract")
@pytest.mark.rule("BID-52")
@pytest.mark.rule("CON-2")
async def test_a_won_bid_is_one_award_in_contract(
    api: httpx2.AsyncClient, host: Host, settle: Settle
) -> None:
    owner = await factory.company(host)
    made = await factory.workspace(
        host, owner.organization_id, owner.user_id, status=WorkspaceStatus.SUBMITTED
    )
    path = f"/bids/workspaces/{made.id}/outcome"

    first = await api.post(path, json=WON, headers=owner.acting)
    seen = {"If-Match": f'"{first.json()["version"]}"'}
    again = await api.post(path, json=WON, headers=owner.acting | seen)

    async def awards() -> list[Any] | None:
        answer = await api.get("/contracts/awards", headers=owner.acting)
        return answer.json()["items"] or None

    (award,) = await settle(awards)
    print(f"recorded=2 awards=1 reference={award['awardReference']}")
    assert (first.status_code, again.status_code) == (201, 200)
    assert award["awardReference"] == "AW 12"
    assert award["awardedValue"] == WON["awardedValue"]
