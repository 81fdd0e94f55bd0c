"""Files of bids over HTTP: received, scanned, and as secret as their prices."""

import httpx2
import pytest

from tests.conftest import Time
from tests.factories import bid_offer as offers
from tests.factories.bidding import Bidding
from tests.factories.compliance_documents import pdf
from thenga.kernel.process.host import Host


async def begun(bidding: Bidding, **more: object) -> httpx2.Response:
    body = {"name": "scan.pdf", "purpose": "signed_scan", **more}
    return await bidding.post(f"{bidding.path}/files", body)


@pytest.mark.rule("BID-41")
async def test_a_file_is_not_read_before_its_scan(bidding: Bidding, clock: Time) -> None:
    made = (await begun(bidding)).json()
    path, content = f"/bids/files/{made['id']}", pdf(mark=made["id"])
    headers = bidding.owner.acting

    early = await bidding.get(f"{path}/content")
    put = await bidding.api.put(f"{path}/content", content=content, headers=headers)
    again = await bidding.api.put(f"{path}/content", content=content, headers=headers)
    other = await bidding.api.put(f"{path}/content", content=pdf(mark="x"), headers=headers)
    waiting = await bidding.get(f"{path}/content")

    assert made["upload"]["path"] == f"/v1{path}/content"
    assert [one.status_code for one in (early, waiting)] == [409, 409]
    assert {one.json()["code"] for one in (early, waiting)} == {"file-not-clean"}
    assert (put.status_code, put.json()["contentStatus"]) == (200, "quarantined")
    assert (again.status_code, other.status_code) == (200, 409)


async def test_other_kinds_of_files_are_refused(bidding: Bidding) -> None:
    made = (await begun(bidding)).json()

    answer = await bidding.api.put(
        f"/bids/files/{made['id']}/content",
        content=b"#!/bin/sh\nrm -rf /\n",
        headers=bidding.owner.acting,
    )

    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported-media-type")


@pytest.mark.rule("BID-4")
async def test_a_file_with_prices_is_for_those_who_see_prices(bidding: Bidding, host: Host) -> None:
    here = (host, bidding.owner.organization_id, bidding.workspace.id)
    file = await offers.clean_file(*here, price=True)
    blind = await bidding.colleague("bid_manager", price=False)

    refused = await bidding.get(f"/bids/files/{file.id}/content", blind)
    read = await bidding.get(f"/bids/files/{file.id}/content")
    card = await bidding.get(f"/bids/files/{file.id}")

    assert (refused.status_code, read.status_code) == (403, 200)
    assert read.headers["content-disposition"].startswith("attachment")
    assert (card.json()["sha256"], card.json()["contentStatus"]) == (file.sha256, "clean")
