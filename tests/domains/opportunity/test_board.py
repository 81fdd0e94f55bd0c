"""Watchlists and the board over HTTP."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from tests.conftest import Time
from tests.factories import held
from tests.factories import opportunity_board as factory
from tests.factories.identity import Member
from tests.planting import plant

from thenga.domains.opportunity.services import board
from thenga.domains.opportunity.services.board import bid_led, deadlines
from thenga.domains.opportunity.tables import SavedOpportunity, Stage, TenderOpportunity
from thenga.kernel.process.host import Host


@pytest.fixture
async def owner(host: Host, seeded: None) -> Member:
    return await factory.owner_of(host, await factory.company(host))


async def saved(
    api: httpx2.AsyncClient, who: Member, tender: TenderOpportunity, **body: Any
) -> httpx2.Response:
    return await api.post(
        f"/organizations/{who.organization_id}/saved-opportunities",
        json={"tenderOpportunityId": str(tender.id)} | body,
        headers=who.headers,
    )


async def move(api: httpx2.AsyncClient, who: Member, saved_id: str, **body: Any) -> httpx2.Response:
    path = f"/organizations/{who.organization_id}/saved-opportunities/{saved_id}"
    return await api.patch(path, json=body, headers=who.headers)


async def due(host: Host, who: Member, saved_id: str) -> SavedOpportunity:
    """Do what is due on the board, as its job does, and as often as it is due."""
    for _ in range(20):
        work = factory.working(host, who.organization_id)
        await board.run_due_step(work, UUID(saved_id))
        await work.finish()
        row = await factory.get(host, SavedOpportunity, UUID(saved_id), who.organization_id)
        if row.next_check_at is None or row.next_check_at > host.now():
            return row
    raise AssertionError("what is due does not come to an end")


@pytest.mark.rule("OPP-41")
async def test_the_plan_limits_watchlists(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    path = f"/organizations/{owner.organization_id}/watchlists"
    await held.subscribed(host, owner.organization_id, "starter")

    made = [
        await api.post(
            path, json={"name": f"List {n}", "filters": {"q": "road"}}, headers=owner.headers
        )
        for n in range(6)
    ]
    empty = await api.post(path, json={"name": "Empty", "filters": {}}, headers=owner.headers)
    first = made[0].json()
    archived = await api.patch(
        f"{path}/{first['id']}", json={"move": "archive"}, headers=owner.headers
    )
    again = await api.post(
        path, json={"name": "List 0", "filters": {"province": "GP"}}, headers=owner.headers
    )

    refused = made[5].json()
    print(f"status={made[5].status_code} used={refused['used']}")
    assert [one.status_code for one in made] == [201] * 5 + [402]
    assert (refused["code"], refused["used"]) == ("plan-limit-reached", 5)
    assert (empty.status_code, empty.json()["code"]) == (422, "opportunity-watchlist-empty")
    assert (archived.json()["status"], again.status_code) == ("archived", 201)


async def led_by_bid(api: httpx2.AsyncClient, host: Host, owner: Member) -> list[str]:
    """Where the board stands after news of a bid, of which the last two are old ones."""
    tender = await factory.shared_tender(host)
    company, workspace = owner.organization_id, uuid4()
    first = await saved(api, owner, tender, tags=["roads"], priority=2)
    twice = await saved(api, owner, tender)
    row_id = first.json()["id"]

    work = factory.working(host, company)
    await board.open_workspace(work, tender.id, workspace, 1)
    await work.finish()
    by_hand = await move(api, owner, row_id, move="submit")
    for sequence, stage in ((3, Stage.SUBMITTED), (2, Stage.LOST), (3, Stage.LOST)):
        work = factory.working(host, company)
        await board.follow_bid(work, tender.id, workspace, sequence, stage)
        await work.finish()

    path = f"/organizations/{company}/saved-opportunities"
    listed = (await api.get(path, headers=owner.headers)).json()
    shown = (await api.get(f"{path}/{row_id}", headers=owner.headers)).json()
    assert (twice.status_code, twice.json()["code"]) == (409, "duplicate")
    assert (by_hand.status_code, by_hand.json()["code"]) == (409, "opportunity-stage-led-by-bid")
    assert [one["stage"] for one in listed["items"]] == [shown["stage"]]
    assert [(one["stage"], one["count"]) for one in listed["board"]] == [(shown["stage"], 1)]
    assert shown["ledBy"] == "bid"
    moves = await factory.told(host, company, "SavedOpportunityMoved")
    return [one["data"]["stage"] for one in moves]


@pytest.mark.rule("OPP-42")
async def test_the_board_follows_the_bid(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    assert await led_by_bid(api, host, owner) == ["saved", "pursuing", "submitted"]


async def test_a_planted_board_that_takes_old_news_is_found(
    api: httpx2.AsyncClient, host: Host, owner: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, news = bid_led._lead, iter(range(100, 200))

    async def gullible(*said: Any, opens: bool) -> None:
        work, tender, workspace, _, stage = said
        await right(work, tender, workspace, next(news), stage, opens=opens)

    plant(monkeypatch, bid_led, "_lead", gullible)

    assert await led_by_bid(api, host, owner) == ["saved", "pursuing", "submitted", "lost"]


@pytest.mark.rule("OPP-42")
async def test_people_move_a_tender_and_say_why_they_decline(
    api: httpx2.AsyncClient, host: Host, owner: Member
) -> None:
    tender = await factory.shared_tender(host)
    row_id = (await saved(api, owner, tender)).json()["id"]

    bare = await move(api, owner, row_id, move="decline")
    declined = await move(api, owner, row_id, move="decline", declineReason="too_far")
    wrong = await move(api, owner, row_id, move="win")
    reopened = await move(api, owner, row_id, move="reopen")

    assert (bare.status_code, declined.json()["stage"]) == (422, "declined")
    assert (wrong.status_code, wrong.json()["code"]) == (409, "invalid-transition")
    assert (reopened.json()["stage"], reopened.json()["declineReason"]) == ("saved", None)


async def told_in_time(
    api: httpx2.AsyncClient, host: Host, owner: Member, clock: Time
) -> list[str]:
    """The thresholds that are told of a closing in 2 days and of one in 30, and 400 days later."""
    soon = await factory.shared_tender(host, closes_in=timedelta(days=2))
    later = await factory.shared_tender(host, closes_in=timedelta(days=30))
    near = (await saved(api, owner, soon)).json()["id"]
    far = (await saved(api, owner, later)).json()["id"]
    await due(host, owner, near)
    await due(host, owner, near)
    for days in (23, 27, 29):
        clock.move(timedelta(days=days) - (clock.now() - later.created_at))
        await due(host, owner, far)
        await due(host, owner, far)
    clock.move(timedelta(days=400))
    await due(host, owner, far)
    await due(host, owner, near)
    told = await factory.told(host, owner.organization_id, "DeadlineApproaching")
    spans = [one["data"]["threshold"] for one in told]
    print(f"told={len(told)} thresholds={spans}")
    return spans


# Of the near closing only the smallest threshold; of the far one each on its day; then nothing.
SPANS = ["P3D", "P7D", "P3D", "P1D"]


@pytest.mark.rule("OPP-29")
async def test_deadlines_are_told_once_for_each_threshold(
    api: httpx2.AsyncClient, host: Host, owner: Member, clock: Time
) -> None:
    assert await told_in_time(api, host, owner, clock) == SPANS


def _also_when_over(due_at: datetime, thresholds: Iterable[timedelta], now: datetime) -> list[Any]:
    return sorted(one for one in thresholds if due_at - one <= now)


def _largest_first(due_at: datetime, thresholds: Iterable[timedelta], now: datetime) -> list[Any]:
    return sorted((one for one in thresholds if due_at - one <= now < due_at), reverse=True)


@pytest.mark.parametrize("bug", [_also_when_over, _largest_first])
async def test_a_planted_telling_of_deadlines_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: Member,
    clock: Time,
    monkeypatch: pytest.MonkeyPatch,
    bug: Any,
) -> None:
    plant(monkeypatch, deadlines, "reached", bug)

    assert await told_in_time(api, host, owner, clock) != SPANS
