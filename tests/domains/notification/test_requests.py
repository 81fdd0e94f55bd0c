"""Requests over HTTP: checked when accepted, stored once, planned, completed."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import notification_requests as factory
from tests.factories.notification_requests import Office
from tests.planting import plant, together

from thenga.domains.notification.services import recipients, requests
from thenga.domains.notification.services.requests import accepting
from thenga.domains.notification.tables import Delivery, Notification, Request
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

PATH = "/notifications/requests"


@pytest.fixture
def office(app: FastAPI, host: Host, seeded: None) -> Iterator[Office]:
    made = factory.with_ports(host)
    clock = Time(app.state.shared.host, host, made)
    yield Office(made, clock)
    clock.restore()


@pytest.fixture
async def owner(host: Host, office: Office) -> people.Member:
    return await people.member(host, office.organization_id, role="owner")


async def post(api: httpx2.AsyncClient, who: people.Member, **given: Any) -> httpx2.Response:
    return await api.post(PATH, json=factory.body(**given), headers=who.acting)


async def shown(api: httpx2.AsyncClient, who: people.Member, request_id: str) -> dict[str, Any]:
    answer = await api.get(f"{PATH}/{request_id}", headers=who.acting)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def answers_of_one_key(api: httpx2.AsyncClient, who: people.Member) -> Counter[str]:
    """What 50 requests with one key get that come at the same time; a refusal names the first."""
    found = await asyncio.gather(
        *(post(api, who, dedupeKey="closed-2026") for _ in range(50)), return_exceptions=True
    )
    return Counter("failed" if isinstance(one, BaseException) else _answer(one) for one in found)


def _answer(one: httpx2.Response) -> str:
    if one.status_code == 202:
        return "accepted"
    named = one.json().get("existing", {}).get("requestId")
    return f"{one.json()['code']} of the first" if named else one.json()["code"]


ONCE = Counter({"duplicate of the first": 49, "accepted": 1})


@pytest.mark.rule("NOT-2")
async def test_facts_are_checked_before_anything_is_stored(
    api: httpx2.AsyncClient, owner: people.Member, office: Office
) -> None:
    wrong = await post(api, owner, facts={"title": "Office closed", "day": "16 December"})
    stored = len(await office.all(select(Request)))
    right = await post(api, owner, dedupeKey="closed")
    again = await post(api, owner, dedupeKey="closed")

    pointers = [(one["pointer"], one["code"]) for one in wrong.json()["errors"]]
    assert (wrong.status_code, wrong.json()["code"]) == (422, "notification-facts-mismatch")
    assert pointers == [("/facts/message", "missing"), ("/facts/day", "unknown")]
    assert stored == 0
    assert right.status_code == 202
    assert right.headers["location"].endswith(f"/notifications/requests/{right.json()['id']}")
    events = await office.events("NotificationRequestAccepted")
    assert [one["requestId"] for one in events] == [right.json()["id"]]
    assert (again.status_code, again.json()["code"]) == (409, "duplicate")
    assert again.json()["existing"] == {"requestId": right.json()["id"]}
    print(f"pointers={len(pointers)} rows_after_refusal={stored} accepted_events={len(events)}")


@pytest.mark.rule("NOT-19")
async def test_one_key_makes_one_request_however_many_ask(
    api: httpx2.AsyncClient, owner: people.Member, office: Office
) -> None:
    answers = await answers_of_one_key(api, owner)

    stored = len(await office.all(select(Request)))
    told = answers["duplicate of the first"]
    print(f"parallel=50 accepted={answers['accepted']} duplicate={told} requests={stored}")
    assert (answers, stored) == (ONCE, 1)


async def test_planted_look_then_insert_is_found(
    api: httpx2.AsyncClient,
    owner: people.Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two_looked = together(2)

    async def look_then_insert(work: Work, request: Request) -> tuple[Request, bool]:
        known = {"source_domain": request.source_domain, "dedupe_key": request.dedupe_key}
        first = await work.find(Request, **known)
        if first is not None:
            return first, False
        await two_looked()
        return await work.add(request), True

    plant(monkeypatch, accepting, "_store", look_then_insert)

    assert await answers_of_one_key(api, owner) != ONCE


@pytest.mark.parametrize(
    ("given", "status", "code"),
    [
        ({"topicCode": "billing.payment_failed"}, 422, "notification-topic-unknown"),
        ({"topicCode": "billing.no_such_topic"}, 422, "notification-topic-unknown"),
        (
            {"audience": [{"kind": "role", "roleCode": "approver"}]},
            422,
            "notification-audience-empty",
        ),
        ({"excludeActor": True}, 422, "notification-audience-empty"),
        ({"audience": [{"kind": "users", "userIds": [str(uuid4())]}]}, 404, "not-found"),
        ({"audience": [{"kind": "users"}]}, 422, "validation-failed"),
        (
            {
                "audience": [
                    {"kind": "users", "userIds": [str(uuid4()) for _ in range(300)]}
                    for _ in range(2)
                ]
            },
            422,
            "validation-failed",
        ),
        ({"audience": [{"kind": "members", "roleCode": "owner"}]}, 422, "validation-failed"),
        ({"sendAt": "2199-01-01T00:00:00Z"}, 422, "validation-failed"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, 422, "validation-failed"),
        (
            {"facts": {"title": "Two\nlines", "message": "x"}},
            422,
            "notification-facts-mismatch",
        ),
    ],
)
async def test_a_request_that_cannot_be_sent_is_refused(
    api: httpx2.AsyncClient,
    owner: people.Member,
    office: Office,
    given: dict[str, Any],
    status: int,
    code: str,
) -> None:
    answer = await post(api, owner, **given)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert await office.all(select(Request)) == []


async def test_viewer_cannot_send_and_another_tenant_finds_nothing(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
) -> None:
    viewer = await people.member(host, owner.organization_id, role="viewer")
    stranger = await people.member(host, uuid4(), role="owner")
    made = await post(api, owner)

    elsewhere = await api.get(f"{PATH}/{made.json()['id']}", headers=stranger.acting)
    missing = await api.get(f"{PATH}/{uuid4()}", headers=stranger.acting)

    assert (await post(api, viewer)).status_code == 403
    assert (elsewhere.status_code, missing.status_code) == (404, 404)
    assert elsewhere.json()["title"] == missing.json()["title"]


@pytest.mark.rule("NOT-1")
async def test_every_member_gets_one_message_with_its_decisions(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, office: Office
) -> None:
    await people.member(host, office.organization_id, role="viewer")
    made = await post(api, owner)

    await office.work_off()

    request = await shown(api, owner, made.json()["id"])
    deliveries = await office.deliveries(UUID(made.json()["id"]))
    inbox = [one for one in deliveries if one.channel_kind == "in_app"]
    assert request["counts"]["persons"] == request["counts"]["reached"] == 2
    assert {"status": "delivered", "count": 2} in request["counts"]["deliveries"]
    reasons = {one["reasonCode"]: one["count"] for one in request["counts"]["notSent"]}
    assert sum(reasons.values()) == sum(one.status == "not_sent" for one in deliveries)
    assert [one.status for one in inbox] == ["delivered", "delivered"]
    assert all(one.decisions for one in deliveries)
    assert all(one.reason_code for one in deliveries if one.status == "not_sent")
    steps = [one["step"] for one in inbox[0].decisions]
    assert steps[0] == "membership"
    assert steps.index("preference") < steps.index("address") < steps.index("template")
    decisions = sum(len(one.decisions) for one in deliveries)
    print(f"persons=2 deliveries={len(deliveries)} decisions={decisions}")


@pytest.mark.rule("NOT-36")
async def test_people_in_two_targets_and_many_batches_are_told_once(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    members = [await people.member(host, office.organization_id, role="viewer") for _ in range(6)]
    named = {"kind": "users", "userIds": [str(one.user_id) for one in members]}
    monkeypatch.setattr(recipients, "MOST_AT_ONCE", 2)
    made = await post(api, owner, audience=[{"kind": "members"}, named])

    await office.work_off()

    messages = await office.all(select(Notification))
    request = await office.get(Request, UUID(made.json()["id"]))
    told = Counter(one.user_id for one in messages)
    batches = request.planned_after["batch"] + 1
    print(f"persons={len(told)} doubled={sum(told.values()) - len(told)} batches={batches}")
    assert set(told.values()) == {1}
    assert told.keys() == {owner.user_id, *(one.user_id for one in members)}
    assert batches > 3
    assert (await shown(api, owner, made.json()["id"]))["counts"]["persons"] == 7


@pytest.mark.rule("NOT-36")
async def test_lost_batch_is_planned_again_and_never_twice(
    api: httpx2.AsyncClient, owner: people.Member, office: Office
) -> None:
    made = UUID((await post(api, owner, channelKinds=["in_app"])).json()["id"])
    lost = replace(office.timeline(), undone=["plan_batch"])
    await lost.take_out()
    assert await office.all(select(Notification)) == []

    await office.timeline().until(office.host.now() + timedelta(minutes=6))
    asked = await office.get(Request, made)
    batch = await requests.ask_batch(factory.working(office.host, office.organization_id), asked)
    work = factory.working(office.host, office.organization_id)
    await requests.plan_people(work, made, 0, batch)
    await work.finish()

    assert len(await office.all(select(Notification))) == 1
    assert asked.status == "completed"


async def test_the_sender_is_left_out_unless_asked_for(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, office: Office
) -> None:
    viewer = await people.member(host, office.organization_id, role="viewer")
    await post(api, owner, excludeActor=True)

    await office.work_off()

    assert [one.user_id for one in await office.all(select(Notification))] == [viewer.user_id]


async def test_channels_can_be_narrowed_and_need_can_be_raised(
    api: httpx2.AsyncClient, owner: people.Member, office: Office
) -> None:
    made = await post(api, owner, channelKinds=["in_app"], acknowledgement="required")

    await office.work_off()

    (message,) = await office.all(select(Notification))
    request = await shown(api, owner, made.json()["id"])
    assert [one.channel_kind for one in await office.all(select(Delivery))] == ["in_app"]
    assert message.acknowledgement == "required"
    assert (request["status"], request["progress"]["done"]) == ("completed", 1)
    (ended,) = await office.events("NotificationRequestCompleted")
    assert ended["counts"] == {"persons": 1, "reached": 1, "notReached": 0, "notSent": 0}


async def test_scheduled_requests_are_sent_at_their_time_and_once(
    api: httpx2.AsyncClient, owner: people.Member, office: Office
) -> None:
    now = office.host.now()
    days = [1, 100, 399]
    for day in reversed(days):
        at = (now + timedelta(days=day)).isoformat()
        made = await post(api, owner, sendAt=at, channelKinds=["in_app"], dedupeKey=f"day {day}")
        assert made.json()["status"] == "scheduled", made.text
    assert await office.all(select(Notification)) == []

    await office.timeline().until(now + timedelta(days=400))
    messages = await office.all(select(Notification).order_by(Notification.created_at))
    await office.timeline().settle()

    again = len(await office.all(select(Notification))) - len(messages)
    sent = [(one.created_at - now).days for one in messages]
    print(f"jump_days=400 scheduled=3 sent_on_days={sent} second_sweep={again}")
    assert (sent, again) == (days, 0)
