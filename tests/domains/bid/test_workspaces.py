"""Workspaces over HTTP: one a tender, for those who need to know."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from tests.conftest import Silence, Time
from tests.factories import bid as factory
from tests.factories import bid_offer as offers
from tests.factories import held
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.settling import transaction_number
from thenga.domains.bid.tables import Comment, MatrixRow, Plan, Workspace, WorkspaceStatus
from thenga.domains.opportunity.public import Tenders
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

PATH = "/bids/workspaces"
_FOREIGN = """
    SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('opportunity', 'organization', 'compliance') AND c.relkind = 'r'
      AND obj_description(c.oid) ~ 'private|notice|published|between'
"""


async def opened(api: httpx2.AsyncClient, who: Member, **body: Any) -> httpx2.Response:
    return await api.post(PATH, json=body, headers=who.acting)


async def written_elsewhere(host: Host, since: int) -> int:
    """Rows of other domains that were written after a transaction."""
    count = 0
    for domain in ("opportunity", "organization", "compliance"):
        async with host.engines.connection(domain, f"{domain}_system") as connection:
            for (table,) in await connection.fetch(_FOREIGN):
                if table.startswith(f"{domain}."):
                    count += await connection.fetchval(
                        f"SELECT count(*) FROM {table} WHERE xmin::text::bigint > $1", since
                    )
    return count


@pytest.mark.rule("BID-1")
@pytest.mark.rule("BID-2")
async def test_fifty_openings_make_one_workspace(
    api: httpx2.AsyncClient, host: Host, owner: Member, settings: Settings
) -> None:
    tender = await factory.tender(host)
    await factory.tenders.requirement(host, tender, {"kind": "document", "params": {}})
    since = transaction_number(settings)

    made = await asyncio.gather(
        *(opened(api, owner, tenderOpportunityId=str(tender.id)) for _ in range(50))
    )

    ok = [one.json() for one in made if one.status_code == 201]
    refused = [one.json() for one in made if one.status_code == 409]
    changed = await written_elsewhere(host, since)
    told = await factory.told(host, owner.organization_id, "BidWorkspaceOpened")
    print(f"created={len(ok)} duplicate={len(refused)} foreign_rows_changed={changed}")
    assert (len(ok), len(refused), len(told), changed) == (1, 49, 1, 0)
    assert {one["code"] for one in refused} == {"duplicate"}
    assert {one["existing"]["id"] for one in refused} == {ok[0]["id"]}
    assert len(ok[0]["matrix"]["rows"]) == 1
    assert [one["key"] for one in ok[0]["plan"]["milestones"]][-1] == "delivered"
    for row in (Plan, MatrixRow):
        assert len(await factory.rows(host, row, owner.organization_id)) == 1


@pytest.mark.rule("BID-2")
@pytest.mark.rule("BID-5")
async def test_a_tender_that_is_silent_unknown_or_closed_is_refused(
    api: httpx2.AsyncClient, host: Host, owner: Member, silence: Silence, clock: Time
) -> None:
    closing = clock.now().replace(microsecond=0) + timedelta(minutes=5)
    tender = await factory.tender(host, closing_at=closing)

    clock.set(closing)
    at_closing = await opened(api, owner, tenderOpportunityId=str(tender.id))
    clock.set(closing - timedelta(milliseconds=1))
    unknown = await opened(api, owner, tenderOpportunityId=str(uuid4()))
    silence(Tenders)
    silent = await opened(api, owner, tenderOpportunityId=str(tender.id))

    assert (at_closing.status_code, at_closing.json()["code"]) == (409, "bid-tender-not-open")
    assert (unknown.status_code, unknown.json()["code"]) == (422, "bid-tender-unknown")
    assert (silent.status_code, silent.json()["code"]) == (503, "dependency-unavailable")
    assert await factory.rows(host, Workspace, owner.organization_id) == []


@pytest.mark.rule("BID-2")
async def test_the_plan_limits_open_workspaces(
    api: httpx2.AsyncClient, host: Host, seeded: None
) -> None:
    company = uuid4()
    await held.subscribed(host, company, "starter")
    owner = await people.member(host, company, role="owner")
    tenders = [await factory.tender(host) for _ in range(4)]

    made = [await opened(api, owner, tenderOpportunityId=str(one.id)) for one in tenders]
    first, refused = made[0], made[3].json()
    no_bid = await api.patch(
        f"{PATH}/{first.json()['id']}",
        json={"move": "no_bid", "reasonCode": "capacity"},
        headers=owner.acting | {"If-Match": first.headers["etag"]},
    )
    again = await opened(api, owner, tenderOpportunityId=str(tenders[3].id))

    assert [one.status_code for one in made] == [201, 201, 201, 402]
    assert (refused["code"], refused["limit"], refused["used"]) == ("plan-limit-reached", 3, 3)
    assert (no_bid.json()["status"], again.status_code) == ("no_bid", 201), no_bid.text


@pytest.mark.rule("BID-4")
async def test_outside_the_team_only_the_card_is_seen(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    tender = await factory.tender(host)
    company = owner.organization_id
    writer = await people.member(host, company, role="contributor")
    other = await people.member(host, company, role="owner")
    stranger = await factory.company(host)
    body = {"team": {str(writer.user_id): {"roles": ["writer"]}}}
    made = (await opened(api, owner, tenderOpportunityId=str(tender.id), **body)).json()
    path = f"{PATH}/{made['id']}"

    inside = await api.get(path, headers=writer.acting)
    outside = await api.get(path, headers=other.acting)
    cards = await api.get(PATH, headers=other.acting)
    foreign = await api.get(path, headers=stranger.acting)
    missing = await api.get(f"{PATH}/{uuid4()}", headers=stranger.acting)
    titled = await api.patch(
        path, json={"title": "Mine"}, headers=other.acting | {"If-Match": '"2"'}
    )
    governed = await api.patch(
        path,
        json={"team": {str(other.user_id): {"roles": ["observer"]}}},
        headers=other.acting | {"If-Match": f'"{inside.json()["version"]}"'},
    )

    assert (inside.status_code, inside.json()["withheld"]) == (200, ["price"])
    assert (outside.status_code, outside.json()["reasonCode"]) == (403, "not_in_team")
    assert [one["id"] for one in cards.json()["items"]] == [made["id"]]
    assert "team" not in cards.json()["items"][0]
    hidden = {"instance", "requestId"}
    bodies = [
        {k: v for k, v in one.json().items() if k not in hidden} for one in (foreign, missing)
    ]
    assert (foreign.status_code, bodies[0]) == (404, bodies[1])
    assert titled.status_code in (412, 422)
    assert governed.status_code == 200, governed.text
    assert governed.json()["team"][str(owner.user_id)]["price"] is True


@pytest.mark.rule("BID-10")
@pytest.mark.parametrize("kind", ["item", "finding"])
async def test_price_talk_is_for_those_who_see_prices(
    api: httpx2.AsyncClient, host: Host, owner: Member, kind: str
) -> None:
    writer = await people.member(host, owner.organization_id, role="contributor")
    team = {str(writer.user_id): {"roles": ["writer"], "price": False}}
    made = await factory.workspace(host, owner.organization_id, owner.user_id, team=team)
    path = f"{PATH}/{made.id}/comments"
    canary = f"canary {uuid4().hex}"
    await offers.workbook(host, owner.organization_id, made.id)
    price = await api.get(f"{PATH}/{made.id}/pricing-workbook", headers=owner.acting)
    found = price.json()["findings"][0]["key"]
    about, missing = {"item": ("1", "99"), "finding": (found, "margin_low:workbook99")}[kind]
    talk = {"body": canary, "subjectType": kind, "subjectId": about}

    said = await api.post(path, json=talk, headers=owner.acting)
    refused = await api.post(path, json=talk, headers=writer.acting)
    guessed = await api.post(path, json=talk | {"subjectId": missing}, headers=writer.acting)
    mentioned = await api.post(
        path, json=talk | {"mentions": [str(writer.user_id)]}, headers=owner.acting
    )
    answers = [
        await api.get(path, headers=writer.acting),
        await api.get(f"/bids/comments/{said.json()['id']}", headers=writer.acting),
        await api.get(f"{PATH}/{made.id}", headers=writer.acting),
        await api.get(PATH, headers=writer.acting),
    ]

    events = str(await factory.all_told(host, owner.organization_id))
    leaks = sum(canary in one.text for one in answers) + (canary in events)
    print(f"price_canaries={leaks}")
    assert (said.status_code, refused.status_code) == (201, 403), said.text
    assert guessed.json()["reasonCode"] == refused.json()["reasonCode"] == "price_withheld"
    assert (mentioned.status_code, mentioned.json()["code"]) == (422, "bid-person-not-in-team")
    assert (leaks, answers[1].status_code) == (0, 403)


@pytest.mark.rule("BID-10")
async def test_threads_are_resolved_by_those_they_concern(
    api: httpx2.AsyncClient, host: Host, owner: Member, clock: Time
) -> None:
    writer = await people.member(host, owner.organization_id, role="contributor")
    viewer = await people.member(host, owner.organization_id, role="approver")
    made = await factory.workspace(host, owner.organization_id, owner.user_id)
    path = f"{PATH}/{made.id}/comments"
    root = (await api.post(path, json={"body": "Why?"}, headers=writer.acting)).json()
    reply = {"body": "Because.", "inReplyTo": root["id"]}
    answered = (await api.post(path, json=reply, headers=viewer.acting)).json()
    own = f"/bids/comments/{root['id']}"

    not_theirs = await api.patch(own, json={"move": "resolve"}, headers=viewer.acting)
    resolved = await api.patch(own, json={"move": "resolve"}, headers=writer.acting)
    again = await api.patch(own, json={"move": "resolve"}, headers=owner.acting)
    edited = await api.patch(
        f"/bids/comments/{answered['id']}", json={"body": "Therefore."}, headers=viewer.acting
    )
    deleted = await api.patch(own, json={"move": "delete"}, headers=writer.acting)
    clock.move(timedelta(minutes=15, seconds=1))
    fresh = await people.member(host, owner.organization_id, role="approver")
    late = await api.patch(own, json={"body": "Late."}, headers=fresh.acting)

    assert (not_theirs.status_code, resolved.json()["status"]) == (403, "resolved")
    assert again.json()["version"] == resolved.json()["version"]
    assert (edited.json()["body"], edited.json()["inReplyTo"]) == ("Therefore.", root["id"])
    gone = deleted.json()
    assert (gone["body"], gone["authorUserId"], len(gone["replies"])) == (
        None,
        str(writer.user_id),
        1,
    )
    assert (late.status_code, late.json()["code"]) == (409, "bid-comment-closed")
    (stored,) = await factory.rows(host, Comment, owner.organization_id, id=UUID(root["id"]))
    assert stored.body is None


@pytest.mark.rule("BID-5")
async def test_a_bid_lapses_at_closing_before_any_job(
    api: httpx2.AsyncClient, host: Host, owner: Member, clock: Time, bound: Host
) -> None:
    closing = clock.now().replace(microsecond=0) + timedelta(minutes=5)
    tender = await factory.tender(host, closing_at=closing)
    made = await factory.workspace(host, owner.organization_id, owner.user_id, of_tender=tender)
    path = f"{PATH}/{made.id}"

    clock.set(closing - timedelta(milliseconds=1))
    before = await api.get(path, headers=owner.acting)
    clock.set(closing)
    after = await api.get(path, headers=owner.acting)
    listed = await api.get(f"{PATH}?status=lapsed", headers=owner.acting)
    plan = await api.post(f"{path}/plan", json={}, headers=owner.acting)
    for _ in range(3):
        work = factory.working(host, owner.organization_id)
        await factory.workspaces.lapse(work, made.id)
        await work.finish()

    told = await factory.told(host, owner.organization_id, "BidWorkspaceChanged")
    assert (before.json()["status"], after.json()["status"]) == ("preparing", "lapsed")
    assert [one["id"] for one in listed.json()["items"]] == [str(made.id)]
    assert plan.status_code == 409
    assert [one["data"]["status"] for one in told] == ["lapsed"]


@pytest.mark.rule("BID-6")
async def test_a_contract_won_elsewhere_opens_as_submitted(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    body = {
        "origin": "outside_platform",
        "buyerName": "City  of Tshwane",
        "externalReference": "RFQ 17",
        "title": "Cleaning",
    }

    made = await opened(api, owner, **body)
    same = await opened(api, owner, **body | {"buyerName": "city of TSHWANE"})
    bare = await opened(api, owner, origin="outside_platform", title="Cleaning")
    path = f"{PATH}/{made.json()['id']}"
    task = await api.post(f"{path}/drafts", json={"title": "X"}, headers=owner.acting)
    said = await api.post(f"{path}/comments", json={"body": "Hello"}, headers=owner.acting)

    assert (made.status_code, made.json()["status"]) == (201, "submitted"), made.text
    assert (same.status_code, same.json()["existing"]["id"]) == (409, made.json()["id"])
    assert bare.status_code == 422
    assert (task.status_code, task.json()["code"]) == (409, "bid-submitted")
    assert said.status_code == 201


@pytest.mark.rule("BID-53")
async def test_no_bid_needs_a_reason_and_is_resumed_while_open(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    made = await factory.workspace(host, owner.organization_id, owner.user_id)
    path = f"{PATH}/{made.id}"

    async def patch(version: int, **body: Any) -> httpx2.Response:
        headers = owner.acting | {"If-Match": f'"{version}"'}
        return await api.patch(path, json=body, headers=headers)

    bare = await patch(1, move="no_bid")
    stopped = await patch(1, move="no_bid", reasonCode="cash_gap", reason="Too much cash")
    resumed = await patch(stopped.json()["version"], move="resume")
    withdrawn = await patch(resumed.json()["version"], move="withdraw")
    unmatched = await api.patch(path, json={"title": "X"}, headers=owner.acting)

    assert (bare.status_code, bare.json()["rule"]) == (422, "BID-53")
    assert (stopped.json()["status"], resumed.json()["status"]) == ("no_bid", "preparing")
    assert (withdrawn.status_code, withdrawn.json()["code"]) == (409, "invalid-transition")
    assert unmatched.status_code == 428
    told = await factory.told(host, owner.organization_id, "BidWorkspaceChanged")
    assert [one["data"]["reasonCode"] for one in told] == ["cash_gap", None]


@pytest.mark.rule("BID-53")
async def test_withdrawing_after_closing_accepts_the_consequences(
    api: httpx2.AsyncClient, host: Host, owner: Member, clock: Time
) -> None:
    closing = clock.now().replace(microsecond=0) + timedelta(minutes=5)
    tender = await factory.tender(host, closing_at=closing)
    company = owner.organization_id
    made = await factory.workspace(
        host, company, owner.user_id, of_tender=tender, status=WorkspaceStatus.SUBMITTED
    )
    letter = await factory.clean_file(host, company, made.id)
    clock.set(closing + timedelta(minutes=1))
    body = {"move": "withdraw", "reason": "Our price was wrong", "fileId": str(letter.id)}
    headers = owner.acting | {"If-Match": '"1"'}

    refused = await api.patch(f"{PATH}/{made.id}", json=body, headers=headers)
    taken = await api.patch(
        f"{PATH}/{made.id}", json=body | {"acceptConsequences": True}, headers=headers
    )

    assert (refused.status_code, refused.json()["field"]) == (422, "acceptConsequences")
    assert (taken.status_code, taken.json()["status"]) == (200, "withdrawn"), taken.text
    assert len(await factory.told(host, company, "BidWithdrawn")) == 1
