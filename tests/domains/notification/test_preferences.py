"""Preferences: every topic has one, the law keeps a channel on, nobody overwrites blindly."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from tests.factories import identity
from tests.factories.identity import Member
from tests.planting import plant

from thenga.domains.notification.services import recipients, templates
from thenga.domains.notification.services.recipients import stored_preferences
from thenga.domains.notification.tables import Preference
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

FAILED, RECEIPT = "billing.payment_failed", "billing.receipt"
HOURS = {
    "from": "21:00",
    "to": "06:30",
    "days": ["monday", "friday"],
    "channels": ["email", "sms"],
    "timeZone": "Europe/Berlin",
}


@pytest.fixture
async def me(host: Host, seeded: None) -> Member:
    return await identity.member(host, uuid4(), role="viewer")


def preference_id(who: Member, topic: str, scope: str = "person") -> UUID:
    user_id = who.user_id if scope == "person" else None
    code = None if topic == "*" else topic
    return recipients.preference_id(who.organization_id, user_id, code)


async def put(
    api: httpx2.AsyncClient, who: Member, topic: str, *, version: int | None = 0, **body: Any
) -> httpx2.Response:
    given = {"scope": "person", "topicCode": topic} | body
    path = f"/notifications/preferences/{preference_id(who, topic, given['scope'])}"
    headers = who.acting if version is None else who.acting | {"If-Match": f'"{version}"'}
    return await api.put(path, json=given, headers=headers)


async def read(api: httpx2.AsyncClient, who: Member, **query: str) -> list[dict[str, Any]]:
    answer = await api.get("/notifications/preferences", params=query, headers=who.acting)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


@pytest.mark.rule("NOT-8")
async def test_every_topic_has_a_preference(api: httpx2.AsyncClient, me: Member) -> None:
    items = await read(api, me, limit="200")

    assert [one["topicCode"] for one in items] == sorted(["*", *templates.topics()])
    assert {one["version"] for one in items} == {0}
    assert [one["id"] for one in items] == [str(preference_id(me, i["topicCode"])) for i in items]
    (receipt,) = await read(api, me, topicCode=RECEIPT)
    assert receipt["effective"]["sms"] == {
        "value": "off",
        "source": "topic",
        "locked": False,
        "rule": None,
    }


async def test_preferences_are_paged_and_filtered(api: httpx2.AsyncClient, me: Member) -> None:
    found, cursor = [], None
    while not found or cursor:
        query = {"limit": "9", "sort": "-topicCode"} | ({"cursor": cursor} if cursor else {})
        answer = await api.get("/notifications/preferences", params=query, headers=me.acting)
        found += [one["topicCode"] for one in answer.json()["items"]]
        cursor = answer.json()["nextCursor"]

    assert found == sorted(["*", *templates.topics()], reverse=True)
    operational = await read(api, me, category="operational")
    assert {one["category"] for one in operational} == {"operational"}


@pytest.mark.rule("NOT-8")
async def test_the_topic_row_beats_the_general_row(api: httpx2.AsyncClient, me: Member) -> None:
    general = await put(api, me, "*", channels={"email": "off", "sms": "off"}, language="zu-ZA")
    topic = await put(api, me, RECEIPT, channels={"sms": "on"})

    assert (general.status_code, topic.status_code) == (200, 200), general.text + topic.text
    assert topic.json()["effective"]["sms"]["source"] == "person"
    assert topic.json()["effective"]["email"] == {
        "value": "off",
        "source": "person_general",
        "locked": False,
        "rule": None,
    }
    (stored,) = await read(api, me, topicCode="*")
    assert (stored["language"], stored["version"], stored["effective"]) == ("zu-ZA", 1, None)


@pytest.mark.rule("NOT-9")
async def test_a_minimum_channel_stays_on(api: httpx2.AsyncClient, me: Member) -> None:
    refused = await put(api, me, FAILED, channels={"email": "off"})
    unversioned = await put(api, me, FAILED, version=None, channels={"inApp": "off"})
    other = await put(api, me, FAILED, channels={"inApp": "off"})

    assert refused.status_code == 422
    assert refused.json()["code"] == "notification-minimum-channel"
    assert refused.json()["rule"] == "NOT-9"
    assert refused.json()["errors"][0]["pointer"] == "/channels/email"
    assert unversioned.status_code == 428
    assert other.status_code == 200
    assert other.json()["effective"]["email"]["locked"] is True


async def race(api: httpx2.AsyncClient, who: Member) -> list[int]:
    """What two people who both saw version 0 are answered."""
    calls = [put(api, who, RECEIPT, channels={"sms": one}) for one in ("on", "off")]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    return sorted(one.status_code if isinstance(one, httpx2.Response) else 500 for one in answers)


async def test_two_first_versions_are_one(api: httpx2.AsyncClient, me: Member) -> None:
    found = await race(api, me)
    later = await put(api, me, RECEIPT, version=0, channels={})
    current = await put(api, me, RECEIPT, version=1, channels={"sms": "on"}, language=None)

    print(f"two_puts={found}")
    assert found == [200, 412]
    assert later.status_code == 412
    assert current.status_code == 200
    assert current.json()["version"] in (1, 2)  # equal to the winner's, nothing is written


async def test_look_then_insert_is_caught(
    api: httpx2.AsyncClient, me: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_looked = asyncio.Barrier(2)

    async def look_then_insert(work: Work, row: Preference) -> None:
        found = await work.find(Preference, id=row.id)
        await both_looked.wait()
        if found is None:
            await work.add(row)

    plant(monkeypatch, stored_preferences, "_insert", look_then_insert)

    assert await race(api, me) != [200, 412]


async def test_a_version_that_was_never_stored_is_stale(
    api: httpx2.AsyncClient, me: Member
) -> None:
    answer = await put(api, me, RECEIPT, version=3, channels={})

    assert (answer.status_code, answer.json()["currentVersion"]) == (412, 0)


async def test_scope_and_topic_belong_to_the_id(api: httpx2.AsyncClient, me: Member) -> None:
    elsewhere = preference_id(me, RECEIPT)
    stranger = recipients.preference_id(me.organization_id, uuid4(), RECEIPT)
    headers = me.acting | {"If-Match": '"0"'}
    body = {"scope": "person", "topicCode": FAILED}

    answers = [
        await api.put(f"/notifications/preferences/{one}", json=body, headers=headers)
        for one in (elsewhere, stranger)
    ]

    assert [one.status_code for one in answers] == [404, 404]
    unknown = await put(api, me, "no.such_topic", channels={})
    assert unknown.json()["code"] == "notification-topic-unknown"


async def test_defaults_of_members_need_a_permission(
    api: httpx2.AsyncClient, host: Host, me: Member
) -> None:
    owner = await identity.member(host, me.organization_id, role="owner")
    given = {"scope": "organization", "channels": {"sms": "on"}}

    refused = await put(api, me, RECEIPT, **given)
    allowed = await put(api, owner, RECEIPT, **given)

    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert refused.json()["action"] == "notification:preference:manage"
    assert allowed.status_code == 200, allowed.text
    (mine,) = await read(api, me, topicCode=RECEIPT)
    assert mine["effective"]["sms"]["source"] == "organization"
    (ours,) = await read(api, me, topicCode=RECEIPT, scope="organization")
    assert ours["version"] == 1


@pytest.mark.rule("NOT-10")
async def test_quiet_hours_belong_to_all_topics(api: httpx2.AsyncClient, me: Member) -> None:
    stored = await put(api, me, "*", quietHours=HOURS)
    equal = await put(api, me, "*", version=1, quietHours=HOURS | {"to": "21:00"})
    on_topic = await put(api, me, RECEIPT, quietHours=HOURS)
    language = await put(api, me, RECEIPT, language="af-ZA")

    assert stored.json()["quietHours"] == HOURS
    for refused in (equal, on_topic, language):
        assert (refused.status_code, refused.json()["code"]) == (422, "rule-violated")
    unavailable = await put(api, me, "identity.new_device", channels={"sms": "on"})
    assert unavailable.json()["rule"] == "NOT-8"


async def test_preferences_of_another_organization_stay_apart(
    api: httpx2.AsyncClient, host: Host, me: Member
) -> None:
    other = await identity.member(host, uuid4(), role="viewer")
    await put(api, me, RECEIPT, channels={"sms": "on"})
    body = {"scope": "person", "topicCode": RECEIPT}

    path = f"/notifications/preferences/{preference_id(me, RECEIPT)}"
    answer = await api.put(path, json=body, headers=other.acting | {"If-Match": '"1"'})
    missing = await api.put(
        f"/notifications/preferences/{uuid4()}",
        json=body,
        headers=other.acting | {"If-Match": '"1"'},
    )

    assert (answer.status_code, missing.status_code) == (404, 404)
    assert answer.json()["detail"] == missing.json()["detail"]
