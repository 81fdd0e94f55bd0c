"""Comments on parts of a bid that exist: items of the price and findings."""

from typing import Any

import httpx2
import pytest

from tests.domains.bid.test_packs import assembled
from tests.factories import bid_offer as offers
from tests.factories.bid_offer import CASH, PRICE
from tests.factories.bidding import Bidding
from tests.planting import plant
from thenga.domains.bid.services import commenting
from thenga.domains.bid.tables import Workbook, Workspace
from thenga.kernel.db.reader import Reader
from thenga.kernel.process.host import Host


async def said(bidding: Bidding, kind: str, key: str, **more: Any) -> httpx2.Response:
    body = {"body": "Is this right?", "subjectType": kind, "subjectId": key, **more}
    return await bidding.post(f"{bidding.path}/comments", body)


async def other_bid(bidding: Bidding, host: Host) -> Bidding:
    """A second bid of the same company."""
    here = bidding.api, bidding.host, bidding.clock, bidding.owner
    return Bidding(*here, await offers.workspace(host, bidding.owner))


@pytest.mark.rule("BID-10")
async def test_a_comment_is_about_an_item_of_this_bid(bidding: Bidding, host: Host) -> None:
    other = await other_bid(bidding, host)
    unpriced = await said(bidding, "item", "1")
    await bidding.priced(CASH)
    await other.priced(PRICE)

    own = await said(bidding, "item", "1")
    foreign = await said(bidding, "item", "6")

    assert own.status_code == 201, own.text
    assert [one.status_code for one in (unpriced, foreign)] == [422, 422]
    assert (foreign.json()["rule"], foreign.json()["field"]) == ("BID-10", "subjectId")


@pytest.mark.rule("BID-10")
async def test_planted_items_of_every_bid_are_found(
    bidding: Bidding, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def anywhere(read: Reader, workspace: Workspace, key: str) -> bool:
        return await read.find(Workbook, organization_id=workspace.organization_id) is not None

    plant(monkeypatch, commenting, "_is_item", anywhere)

    with pytest.raises(AssertionError):
        await test_a_comment_is_about_an_item_of_this_bid(bidding, host)


@pytest.mark.rule("BID-10")
async def test_a_comment_is_about_a_finding_of_this_bid(bidding: Bidding, host: Host) -> None:
    other = await other_bid(bidding, host)
    form = (await bidding.forms("SBD 4"))["SBD 4"]
    shown = (await bidding.get(f"/bids/sbd-forms/{form['id']}")).json()
    price = await bidding.priced()
    pack = await assembled(bidding)
    found = (shown["findings"][0], price["findings"][0], pack["validation"]["findings"][0])
    keys = [one["key"] for one in found]

    own = [await said(bidding, "finding", key) for key in keys]
    foreign = [await said(other, "finding", key) for key in (keys[1], keys[2])]
    unknown = await said(bidding, "finding", "answer_missing:field:99")

    assert [one.status_code for one in own] == [201, 201, 201], [one.text for one in own]
    assert {one.status_code for one in (*foreign, unknown)} == {422}
    assert unknown.json()["field"] == "subjectId"
    assert unknown.json()["detail"].startswith("This bid has no finding")


@pytest.mark.rule("BID-10")
async def test_a_thread_outlives_its_item(bidding: Bidding) -> None:
    price = await bidding.priced()
    root = (await said(bidding, "item", "3")).json()
    path = f"{bidding.path}/pricing-workbook"
    gone = await bidding.patch(path, {"items": {"3": None}}, price["version"])

    again = await said(bidding, "item", "3")
    reply = await said(bidding, "item", "3", inReplyTo=root["id"])
    resolved = await bidding.patch(f"/bids/comments/{root['id']}", {"move": "resolve"}, None)

    assert gone.status_code == 200, gone.text
    assert (again.status_code, reply.status_code) == (422, 201)
    assert resolved.json()["status"] == "resolved", resolved.text
