"""The inbox of a person: theirs alone, and never changed by what was sent."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from tests.factories import identity as people
from tests.factories import notification_requests as factory
from tests.planting import plant

from thenga.domains.notification.services.requests import inbox
from thenga.kernel.process.host import Host

PATH = "/notifications"


@pytest.fixture
async def owner(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="owner")


@pytest.fixture
async def viewer(host: Host, owner: people.Member) -> people.Member:
    return await people.member(host, owner.organization_id, role="viewer")


async def message(host: Host, who: people.Member, **given: Any) -> str:
    made = await factory.message(host, who.organization_id, who.user_id, **given)
    return f"{PATH}/{made.id}"


async def call(
    api: httpx2.AsyncClient, who: people.Member, path: str, verb: str
) -> httpx2.Response:
    body: dict[str, Any] = {"json": {}} if verb == "acknowledge" else {}
    return await api.post(f"{path}/{verb}", headers=who.acting, **body)


async def listed(api: httpx2.AsyncClient, who: people.Member, **asked: Any) -> list[str]:
    answer = await api.get(PATH, params=asked, headers=who.acting)
    assert answer.status_code == 200, answer.text
    return [f"{PATH}/{one['id']}" for one in answer.json()["items"]]


async def acknowledged(host: Host, organization_id: UUID) -> int:
    text = (
        "SELECT count(*) FROM notification.outbox WHERE organization_id = $1 "
        "AND mesh_subject LIKE $2"
    )
    async with host.engines.connection("notification", "notification_system") as link:
        subject = "thenga.notification.NotificationAcknowledged.%"
        found: int = await link.fetchval(text, organization_id, subject)
    return found


async def refused_to(
    api: httpx2.AsyncClient, host: Host, who: people.Member, colleague: people.Member
) -> list[tuple[int, str]]:
    """How a colleague is answered who opens and changes another person's message."""
    path = await message(host, who, acknowledgement="required")
    answers = [await api.get(path, headers=colleague.acting)]
    answers += [await call(api, colleague, path, one) for one in ("read", "acknowledge", "dismiss")]
    return [(one.status_code, one.json().get("code", "")) for one in answers]


REFUSED = [(403, "notification-not-recipient")] * 4


@pytest.mark.rule("NOT-42")
async def test_colleague_cannot_open_or_change_a_message(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, viewer: people.Member
) -> None:
    found = await refused_to(api, host, owner, viewer)

    print(f"colleague_calls={len(found)} refused={found.count(REFUSED[0])}")
    assert found == REFUSED


async def test_planted_colleague_reads_a_message_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    viewer: people.Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch, inbox, "is_recipient", lambda read, message: True)

    assert await refused_to(api, host, owner, viewer) != REFUSED


@pytest.mark.rule("NOT-42")
async def test_another_tenant_gets_what_a_missing_id_gets(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
) -> None:
    stranger = await people.member(host, uuid4(), role="owner")
    path = await message(host, owner, acknowledgement="required")
    headers = stranger.acting | {"X-Request-Id": "the-same"}

    for verb in ("", "/read", "/dismiss"):
        method = "POST" if verb else "GET"
        theirs = await api.request(method, f"{path}{verb}", headers=headers)
        missing = await api.request(method, f"{PATH}/{uuid4()}{verb}", headers=headers)
        same = theirs.content.replace(path[-36:].encode(), b"") == missing.content.replace(
            str(missing.request.url.path).split("/")[3].encode(), b""
        )
        assert (theirs.status_code, missing.status_code, same) == (404, 404, True)


@pytest.mark.rule("NOT-42")
async def test_acknowledging_twice_is_one_event(
    api: httpx2.AsyncClient, host: Host, viewer: people.Member
) -> None:
    path = await message(host, viewer, acknowledgement="required")
    open_ones = await listed(api, viewer, acknowledgement="pending")

    first = await api.post(
        f"{path}/acknowledge", json={"note": "Seen by the team."}, headers=viewer.acting
    )
    again = await call(api, viewer, path, "acknowledge")

    events = await acknowledged(host, viewer.organization_id)
    assert (first.status_code, again.status_code, events) == (200, 200, 1)
    assert again.json() == first.json()
    assert first.json()["acknowledgement"]["acknowledgedBy"] == str(viewer.user_id)
    assert first.json()["acknowledgement"]["note"] == "Seen by the team."
    assert open_ones == [path]
    assert await listed(api, viewer, acknowledgement="pending") == []
    print(f"acknowledged=2 events={events}")


async def test_delivered_message_is_not_read(
    api: httpx2.AsyncClient, host: Host, viewer: people.Member
) -> None:
    path = await message(host, viewer)

    delivered = (await api.get(path, headers=viewer.acting)).json()
    read = (await call(api, viewer, path, "read")).json()
    again = (await call(api, viewer, path, "read")).json()

    assert [one["status"] for one in delivered["deliverySummary"]] == ["delivered"]
    assert delivered["readAt"] is None
    assert read["readAt"] is not None
    assert (read["outcome"], again) == (delivered["outcome"], read)


async def test_message_must_be_acknowledged_before_it_is_dismissed(
    api: httpx2.AsyncClient, host: Host, viewer: people.Member
) -> None:
    required = await message(host, viewer, acknowledgement="required")
    plain = await message(host, viewer)

    too_early = await call(api, viewer, required, "dismiss")
    not_needed = await call(api, viewer, plain, "acknowledge")
    await call(api, viewer, required, "acknowledge")
    dismissed = await call(api, viewer, required, "dismiss")

    assert (too_early.status_code, too_early.json()["code"]) == (
        409,
        "notification-acknowledgement-open",
    )
    assert (not_needed.status_code, not_needed.json()["code"]) == (
        409,
        "notification-acknowledgement-not-needed",
    )
    assert dismissed.status_code == 200
    assert await listed(api, viewer) == [plain]
    assert await listed(api, viewer, dismissed=True) == [required]


async def test_feed_has_own_messages_with_a_title_only(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, viewer: people.Member
) -> None:
    mine = await message(host, viewer)
    await message(host, owner)
    by_mail_only = await message(host, viewer, title=None, body=None)

    assert await listed(api, viewer) == [mine]
    assert (await api.get(by_mail_only, headers=viewer.acting)).status_code == 200


async def test_feed_can_be_filtered(
    api: httpx2.AsyncClient, host: Host, viewer: people.Member
) -> None:
    about = {"domain": "bid", "type": "workspace", "id": str(uuid4())}
    first = await message(host, viewer, about=about)
    second = await message(host, viewer, topic_code="billing.receipt")
    await call(api, viewer, first, "read")
    shown = (await api.get(second, headers=viewer.acting)).json()
    later = host.now() + timedelta(hours=1)

    assert await listed(api, viewer) == [second, first]
    assert await listed(api, viewer, sort="createdAt") == [first, second]
    assert await listed(api, viewer, unread=True) == [second]
    assert await listed(api, viewer, unread=False) == [first]
    assert await listed(api, viewer, topicCode="billing.receipt") == [second]
    assert await listed(api, viewer, aboutType="workspace", aboutId=about["id"]) == [first]
    assert await listed(api, viewer, createdFrom=shown["createdAt"]) == [second]
    assert await listed(api, viewer, createdTo=shown["createdAt"]) == [first]
    assert await listed(api, viewer, createdFrom=later.isoformat()) == []


@pytest.mark.rule("NOT-47")
async def test_reading_for_the_history_is_recorded(
    api: httpx2.AsyncClient, host: Host, viewer: people.Member
) -> None:
    officer = await people.member(host, viewer.organization_id, role="compliance_officer")
    path = await message(host, viewer)

    opened = await api.get(path, headers=officer.acting)

    text = (
        "SELECT count(*) FROM notification.audit_entry WHERE organization_id = $1 AND entry LIKE $2"
    )
    async with host.engines.connection("notification", "notification_system") as link:
        told = await link.fetchval(text, viewer.organization_id, "%notification.message.read%")
    assert (opened.status_code, told) == (200, 1)
    assert (await call(api, officer, path, "read")).status_code == 403
