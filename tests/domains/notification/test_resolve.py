"""The preview of whom a message would reach."""

from typing import Any
from uuid import uuid4

import httpx2
import pytest
from tests.domains.notification.test_preferences import HOURS, put
from tests.factories import identity
from tests.factories.identity import Member

from thenga.kernel.process.host import Host

PATH = "/notifications/recipients/resolve"
NOTE = "organization.announcement"
EVENING = "2026-11-16T20:30:00Z"  # a Monday, 21:30 in Berlin


@pytest.fixture
async def sender(host: Host, seeded: None) -> Member:
    return await identity.member(host, uuid4(), role="bid_manager")


async def resolve(
    api: httpx2.AsyncClient, who: Member, audience: list[dict[str, Any]], **more: Any
) -> httpx2.Response:
    body = {"topicCode": NOTE, "audience": audience} | more
    return await api.post(PATH, json=body, headers=who.acting)


def step(person: dict[str, Any], kind: str, name: str) -> tuple[str, str | None]:
    (channel,) = [one for one in person["channels"] if one["channelKind"] == kind]
    (found,) = [one for one in channel["decisions"] if one["step"] == name]
    return found["outcome"], found["reasonCode"]


@pytest.mark.rule("NOT-1")
@pytest.mark.rule("NOT-10")
async def test_a_preview_shows_what_each_channel_would_do(
    api: httpx2.AsyncClient, host: Host, sender: Member
) -> None:
    reader = await identity.member(host, sender.organization_id, role="viewer")
    await put(api, reader, "*", quietHours=HOURS)
    await put(api, reader, NOTE, channels={"inApp": "off"})

    answer = await resolve(api, sender, [{"kind": "role", "roleCode": "viewer"}], at=EVENING)

    assert answer.status_code == 200, answer.text
    (person,) = answer.json()["items"]
    assert person["userId"] == str(reader.user_id)
    assert "***@" in person["mask"]
    assert step(person, "in_app", "preference") == ("stop", "topic_off")
    assert step(person, "email", "quiet_hours") == ("hold", "quiet_hours")
    assert person["channels"][0]["reason"] == "The person switched this topic or channel off."


async def test_a_preview_is_paged_without_repeats(
    api: httpx2.AsyncClient, host: Host, sender: Member
) -> None:
    others = [await identity.member(host, sender.organization_id, role="viewer") for _ in range(2)]
    everybody = [{"kind": "members"}]
    found, cursor = [], None
    while not found or cursor:
        more = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await resolve(api, sender, everybody, **more)).json()
        found += [one["userId"] for one in page["items"]]
        cursor = page["nextCursor"]

    assert sorted(found) == sorted(str(one.user_id) for one in (sender, *others))
    first = (await resolve(api, sender, everybody, limit=1)).json()["nextCursor"]
    elsewhere = await resolve(api, sender, [{"kind": "role", "roleCode": "viewer"}], cursor=first)
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (400, "invalid-cursor")


@pytest.mark.rule("NOT-4")
async def test_strangers_are_not_found(api: httpx2.AsyncClient, host: Host, sender: Member) -> None:
    stranger = await identity.member(host, uuid4(), role="viewer")

    known = await resolve(api, sender, [{"kind": "users", "userIds": [str(stranger.user_id)]}])
    missing = await resolve(api, sender, [{"kind": "users", "userIds": [str(uuid4())]}])

    assert (known.status_code, missing.status_code) == (404, 404)
    assert known.json()["detail"] == missing.json()["detail"]


async def test_an_empty_audience_and_unknown_topic_are_refused(
    api: httpx2.AsyncClient, sender: Member
) -> None:
    nobody = await resolve(api, sender, [{"kind": "role", "roleCode": "compliance_officer"}])
    unknown = await resolve(api, sender, [{"kind": "members"}], topicCode="no.topic")

    assert (nobody.status_code, nobody.json()["code"]) == (422, "notification-audience-empty")
    assert (unknown.status_code, unknown.json()["code"]) == (422, "notification-topic-unknown")


async def test_viewers_cannot_preview(api: httpx2.AsyncClient, host: Host, sender: Member) -> None:
    viewer = await identity.member(host, sender.organization_id, role="viewer")

    answer = await resolve(api, viewer, [{"kind": "members"}])

    assert answer.status_code == 403
