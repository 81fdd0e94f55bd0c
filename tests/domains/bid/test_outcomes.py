"""Outcomes over HTTP: recorded by people, told once."""

from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.factories import bid as factory
from tests.factories import identity as people
from tests.factories.identity import Member
from thenga.domains.bid.public import Awards
from thenga.domains.bid.services import outcomes
from thenga.domains.bid.tables import Workspace, WorkspaceStatus
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money

WON = {
    "result": "won",
    "awardReference": "AW 12",
    "awardedValue": {"amount": "494041.60", "currency": "ZAR"},
    "decidedOn": "2027-05-03",
}


class Recording:
    """The outcome of one bid, over HTTP."""

    def __init__(self, api: httpx2.AsyncClient, owner: Member, workspace: Workspace) -> None:
        self.api, self.owner, self.workspace = api, owner, workspace
        self.path = f"/bids/workspaces/{workspace.id}/outcome"

    async def __call__(self, version: int | None = None, **body: Any) -> httpx2.Response:
        more = {} if version is None else {"If-Match": f'"{version}"'}
        return await self.api.post(self.path, json=body, headers=self.owner.acting | more)

    async def status(self) -> str:
        path = f"/bids/workspaces/{self.workspace.id}"
        found = await self.api.get(path, headers=self.owner.acting)
        return str(found.json()["status"])


@pytest.fixture
async def record(api: httpx2.AsyncClient, host: Host, owner: Member) -> Recording:
    made = await factory.workspace(
        host, owner.organization_id, owner.user_id, status=WorkspaceStatus.SUBMITTED
    )
    return Recording(api, owner, made)


@pytest.mark.rule("BID-51")
@pytest.mark.rule("BID-52")
async def test_a_win_is_told_once_for_each_revision(
    record: Recording, host: Host, owner: Member, bound: Host
) -> None:
    company = owner.organization_id

    bare = await record(result="won")
    first = await record(**WON)
    unmatched = await record(**WON)
    again = await record(first.json()["version"], **WON)
    dearer = {"awardedValue": {"amount": "500000.00", "currency": "ZAR"}}
    changed = await record(first.json()["version"], **dearer)

    awarded = await factory.told(host, company, "BidAwarded")
    print(f"awarded={len(awarded)} revisions={changed.json()['revision']}")
    assert (bare.status_code, bare.json()["code"]) == (422, "bid-award-incomplete")
    assert (first.status_code, await record.status()) == (201, "awarded"), first.text
    assert (unmatched.status_code, again.status_code) == (428, 200)
    assert again.json()["version"] == first.json()["version"]
    assert [one["data"]["awardedValue"]["amount"] for one in awarded] == ["494041.60", "500000.00"]
    assert {one["data"]["outcomeId"] for one in awarded} == {first.json()["id"]}
    assert awarded[0]["data"]["bidders"][0]["sharePercent"] == "100.00"
    port = bound.bindings.of(Awards)
    award = await port.describe(organization_id=company, outcome_id=UUID(first.json()["id"]))
    assert award is not None
    assert (award.value, award.reference) == (Money.of("500000.00"), "AW 12")


@pytest.mark.rule("BID-51")
async def test_a_loss_names_its_reasons(record: Recording, host: Host, owner: Member) -> None:
    bare = await record(result="lost")
    lost = await record(
        result="lost",
        reasons=[{"code": "price_too_high"}, {"code": "no_feedback", "text": "Not told"}],
        winner={"name": "Rival", "price": {"amount": "1.00", "currency": "ZAR"}},
        lessons={"earlier": {"category": "price", "text": "Ask earlier", "shared": True}},
    )

    (told,) = await factory.told(host, owner.organization_id, "BidLost")
    assert (bare.status_code, bare.json()["code"]) == (422, "bid-reasons-required")
    assert (lost.status_code, await record.status()) == (201, "unsuccessful"), lost.text
    assert told["data"]["reasons"] == ["price_too_high", "no_feedback"]
    assert "Rival" not in str(told)


@pytest.mark.rule("BID-52")
async def test_an_upheld_appeal_wins_and_an_award_is_set_aside(
    record: Recording, host: Host, owner: Member
) -> None:
    company = owner.organization_id
    lost = await record(result="lost", reasons=[{"code": "other"}])
    version = lost.json()["version"]

    early = await record(version, **WON)
    won = await record(version, **WON, appeal={"status": "upheld", "lodgedOn": "2027-05-10"})
    silent = await record(won.json()["version"], result="pending")
    aside = await record(won.json()["version"], result="pending", reason="Review by the court")

    assert (early.status_code, early.json()["rule"]) == (422, "BID-52")
    assert (won.status_code, won.json()["result"]) == (200, "won"), won.text
    assert (silent.status_code, aside.json()["result"]) == (422, "pending")
    assert await record.status() == "submitted"
    kinds = [one["type"].split(".")[1] for one in await factory.all_told(host, company)]
    assert [kind for kind in kinds if kind.startswith(("BidAwa", "BidLost"))] == [
        "BidLost",
        "BidAwarded",
        "BidAwardSetAside",
    ]
    assert [one["result"] for one in aside.json()["history"]] == ["lost", "won", "pending"]


@pytest.mark.rule("BID-6")
@pytest.mark.rule("BID-51")
async def test_a_contract_won_outside_is_recorded_with_a_clean_file(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    body = {
        "origin": "outside_platform",
        "buyerName": "City of Tshwane",
        "externalReference": "RFQ 17",
        "title": "Cleaning",
    }
    made = (await api.post("/bids/workspaces", json=body, headers=owner.acting)).json()
    workspace = await factory.get(host, Workspace, UUID(made["id"]), owner.organization_id)
    record = Recording(api, owner, workspace)
    letter = await factory.clean_file(host, owner.organization_id, workspace.id)

    without = await record(**WON)
    won = await record(**WON, fileIds=[str(letter.id)])

    (told,) = await factory.told(host, owner.organization_id, "ContractCreationRecorded")
    assert (without.status_code, without.json()["missing"]) == (422, ["fileIds"])
    assert won.status_code == 201, won.text
    assert told["data"]["buyerName"] == "City of Tshwane"
    assert told["data"]["documentRefs"] == [{"domain": "bid", "type": "file", "id": str(letter.id)}]
    assert await factory.told(host, owner.organization_id, "BidAwarded") == []


@pytest.mark.rule("BID-51")
async def test_a_published_award_is_a_hint_and_changes_nothing(
    record: Recording, host: Host, owner: Member
) -> None:
    work = factory.working(host, owner.organization_id)
    hint = {"awards": [{"awardId": "1", "date": "2027-05-01", "value": "ZAR 100"}]}
    await outcomes.store_hint(work, record.workspace.id, hint)
    await work.finish()

    shown = (await record.api.get(record.path, headers=owner.acting)).json()
    status = await record.status()
    won = await record(**WON)

    assert (shown["result"], shown["hint"]["awards"][0]["awardId"]) == ("pending", "1")
    assert (status, won.status_code) == ("submitted", 201)
    assert won.json()["contradiction"] == "awarded_value"


@pytest.mark.rule("BID-52")
async def test_shared_lessons_are_readable_to_all_members(
    api: httpx2.AsyncClient, record: Recording, host: Host, owner: Member
) -> None:
    company = owner.organization_id
    work = factory.working(host, company)
    held = await work.lock(Workspace, record.workspace.id)
    held.access = "team"
    await work.save(held)
    await work.finish()
    other = await people.member(host, company, role="viewer")
    lesson = {"category": "Price", "text": "Ask three suppliers."}

    first = await record(**WON, lessons={"own": lesson})
    closed = await api.get(record.path, headers=other.acting)
    both = {"own": lesson, "all": lesson | {"shared": True}}
    await record(first.json()["version"], lessons=both)
    opened = (await api.get(record.path, headers=other.acting)).json()

    assert (closed.status_code, closed.json()["reasonCode"]) == (403, "not_in_team")
    assert (list(opened["lessons"]), opened["withheld"]) == (["all"], ["outcome"])
    assert (opened["result"], opened["awardedValue"], opened["history"]) == ("won", None, [])


@pytest.mark.rule("BID-51")
async def test_no_outcome_before_the_submission(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    made = await factory.workspace(host, owner.organization_id, owner.user_id)
    record = Recording(api, owner, made)

    early = await record(**WON)
    missing = await api.get(record.path, headers=owner.acting)

    assert (early.status_code, early.json()["code"]) == (409, "invalid-transition")
    assert missing.status_code == 404
