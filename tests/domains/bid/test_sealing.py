"""What keeps a pack from its seal: a file without a clean scan, a tender without a closing time."""

from typing import Any
from uuid import UUID

import pytest

from tests.domains.bid.test_packs import NO_FORMS, acknowledged, assembled, ready, sealed
from tests.factories import bid_offer as offers
from tests.factories.bid_offer import CASH
from tests.factories.bidding import Bidding
from tests.factories.compliance_documents import pdf
from tests.planting import plant
from thenga.domains.bid.services.packs import building
from thenga.domains.bid.tables import BidFile, Workspace
from thenga.kernel.files.contents import ContentLifecycle
from thenga.kernel.process.host import Host


@pytest.fixture
async def bidding(bidding: Bidding, host: Host) -> Bidding:
    """A bid without forms."""
    bidding.workspace = await offers.workspace(host, bidding.owner, terms=NO_FORMS)
    return bidding


async def uploaded(bidding: Bidding, file: Any) -> None:
    """The bytes of a file, found clean."""
    path, content = f"/bids/files/{file['id']}/content", pdf(mark=file["id"])
    put = await bidding.api.put(path, content=content, headers=bidding.owner.acting)
    assert put.status_code == 200, put.text
    work = bidding.work()
    held = await work.lock(BidFile, UUID(file["id"]))
    ContentLifecycle.pass_(held, at=work.now)
    await work.save(held)
    await work.finish()


@pytest.mark.rule("BID-42")
async def test_a_file_that_is_not_clean_stays_out_and_blocks(bidding: Bidding, host: Host) -> None:
    await bidding.priced(CASH)
    begun = {"name": "annex.pdf", "purpose": "attachment"}
    file = (await bidding.post(f"{bidding.path}/files", begun)).json()
    clean = await offers.clean_file(host, bidding.owner.organization_id, bidding.workspace.id)
    extra = {file["id"]: {}, str(clean.id): {}}
    pack = await acknowledged(bidding, await assembled(bidding, extraFiles=extra))

    blocked = await sealed(bidding, pack)
    await uploaded(bidding, file)
    later = (await bidding.get(f"/bids/submission-packs/{pack['id']}")).json()
    again = await acknowledged(bidding, await assembled(bidding, extraFiles=extra))

    key = f"file_not_clean:file:{file['id']}"
    (found,) = [one for one in pack["validation"]["findings"] if one["key"] == key]
    assert (found["severity"], found["overridable"], found["state"]) == ("blocking", False, "open")
    assert (blocked.status_code, blocked.json()["code"]) == (409, "bid-pack-blocked")
    assert [one.startswith(key) for one in blocked.json()["findings"]] == [True]
    assert (pack["status"], len(pack["envelopes"][0]["files"])) == ("built", 2)
    assert later["validation"]["result"] == "blocked"
    assert (again["validation"]["result"], len(again["envelopes"][0]["files"])) == ("valid", 3)


@pytest.mark.rule("BID-42")
async def test_planted_pin_that_forgets_the_scan_is_found(
    bidding: Bidding, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = building.build

    async def forgets(*given: Any) -> building.Built:
        built = await whole(*given)
        built.pins = [{**pin, "clean": True} for pin in built.pins]
        return built

    plant(monkeypatch, building, "build", forgets)

    with pytest.raises(AssertionError):
        await test_a_file_that_is_not_clean_stays_out_and_blocks(bidding, host)


@pytest.mark.rule("BID-5")
async def test_nothing_is_sealed_without_a_closing_time(bidding: Bidding) -> None:
    pack = await ready(bidding)
    work = bidding.work()
    held = await work.lock(Workspace, bidding.workspace.id)
    held.closing_at = held.gate_at = held.next_check_at = None  # an amendment removed it
    await work.save(held)
    await work.finish()

    answer = await sealed(bidding, pack)

    assert (answer.status_code, answer.json()["code"]) == (422, "rule-violated")
    assert answer.json()["rule"] == "BID-5"
    assert "no closing time" in answer.json()["detail"]
