"""The history: every step of every message, read by few and changed by nobody."""

from uuid import uuid4

import asyncpg
import httpx2
import pytest
from tests.factories import identity as people
from tests.factories import notification_requests as factory

from thenga.domains.notification.services import history
from thenga.domains.notification.tables import HistoryEntry
from thenga.kernel.process.host import Host

PATH = "/notifications/history"


@pytest.fixture
async def officer(host: Host, seeded: None) -> people.Member:
    return await people.member(host, uuid4(), role="compliance_officer")


async def recorded(host: Host, who: people.Member, *steps: tuple[str, str | None]) -> list[str]:
    """A message to somebody with steps of status and reason; the IDs of the entries."""
    about = {"domain": "bid", "type": "workspace", "id": str(uuid4())}
    message = await factory.message(host, who.organization_id, who.user_id, about=about)
    work = factory.working(host, who.organization_id)
    made: list[HistoryEntry] = [
        await history.record(
            work,
            message,
            kind="planned",
            status=status,
            channel_kind="email",
            reason_code=reason,
        )
        for status, reason in steps
    ]
    await work.finish()
    return [str(one.id) for one in made]


async def listed(api: httpx2.AsyncClient, who: people.Member, **asked: str) -> list[str]:
    answer = await api.get(PATH, params=asked, headers=who.acting)
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()["items"]]


@pytest.mark.rule("NOT-47")
async def test_history_lists_every_step_and_can_be_filtered(
    api: httpx2.AsyncClient, host: Host, officer: people.Member
) -> None:
    viewer = await people.member(host, officer.organization_id, role="viewer")
    mine = await recorded(host, officer, ("queued", None), ("sent", None))
    theirs = await recorded(host, viewer, ("not_sent", "topic_off"))
    (shown,) = (await api.get(PATH, params={"status": "not_sent"}, headers=officer.acting)).json()[
        "items"
    ]

    assert sorted(await listed(api, officer)) == sorted(mine + theirs)
    assert await listed(api, officer, recipientUserId=str(viewer.user_id)) == theirs
    assert await listed(api, officer, reasonCode="topic_off") == theirs
    assert await listed(api, officer, aboutType="workspace", aboutId=shown["about"]["id"]) == theirs
    assert await listed(api, officer, status="sent") == [mine[1]]
    assert await listed(api, officer, channelKind="sms") == []
    assert await listed(api, officer, topicCode="billing.receipt") == []
    assert await listed(api, officer, **{"from": shown["occurredAt"]}) == theirs
    assert sorted(await listed(api, officer, to=shown["occurredAt"])) == sorted(mine)
    assert "body" not in shown


async def test_history_is_for_those_who_may_read_it(
    api: httpx2.AsyncClient, host: Host, officer: people.Member
) -> None:
    viewer = await people.member(host, officer.organization_id, role="viewer")
    stranger = await people.member(host, uuid4(), role="owner")
    await recorded(host, officer, ("sent", None))

    assert (await api.get(PATH, headers=viewer.acting)).status_code == 403
    assert await listed(api, stranger) == []


@pytest.mark.rule("NOT-47")
async def test_history_cannot_be_changed(host: Host, officer: people.Member) -> None:
    (entry,) = await recorded(host, officer, ("sent", None))

    for text in (
        "UPDATE notification.history_entry SET status = 'delivered' WHERE id = $1",
        "DELETE FROM notification.history_entry WHERE id = $1",
    ):
        work = factory.working(host, officer.organization_id)
        with pytest.raises(asyncpg.PostgresError):
            await work.run(text, entry)
        await work.close()
