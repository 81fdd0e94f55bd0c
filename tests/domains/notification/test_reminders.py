"""Reminders before a deadline: sent once, moved with the deadline, cancelled."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests
from tests.factories import notification_times as factory
from tests.factories.notification_requests import Office
from tests.planting import plant

from thenga.domains.notification.provider import LocalReminders
from thenga.domains.notification.public import Offset, Target
from thenga.domains.notification.services import reminders
from thenga.domains.notification.tables import Notification, Reminder, Request
from thenga.kernel.process.host import Host
from thenga.kernel.values import calendar
from thenga.kernel.values.references import Reference

PATH = "/notifications/reminders"
MARCH = datetime(2027, 3, 1, 8, tzinfo=UTC)
CLOSING = datetime(2027, 4, 1, 9, tzinfo=UTC)
MOVED = datetime(2027, 4, 8, 9, tzinfo=UTC)


@pytest.fixture
async def office(app: FastAPI, host: Host, seeded: None) -> AsyncIterator[Office]:
    """A sandbox: its messages are captured and not sent."""
    made = requests.with_ports(host)
    time = Time(app.state.shared.host, host, made)
    time.set(MARCH)
    organization_id = uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)
    yield Office(made, time, organization_id)
    time.restore()


@pytest.fixture
async def owner(host: Host, office: Office) -> people.Member:
    return await people.member(host, office.organization_id, role="owner")


@pytest.fixture
def tender() -> Reference:
    return factory.reference("tenderOpportunity", "opportunity")


async def set_reminder(office: Office, anchor: Reference, **given: Any) -> UUID:
    """What another domain asks for by port: five working days before the closing time."""
    fields: dict[str, Any] = {
        "key": str(anchor.id),
        "due_at": CLOSING,
        "time_zone": factory.HOME,
        "sequence": 1,
        "offsets": [factory.days(5)],
        "topic_code": requests.TOPIC,
        "audience": factory.members(),
        "facts": requests.FACTS,
    }
    return await LocalReminders(office.host).set(
        organization_id=office.organization_id, anchor=anchor, **fields | given
    )


async def post(api: httpx2.AsyncClient, who: people.Member, **given: Any) -> httpx2.Response:
    return await api.post(PATH, json=factory.reminder_body(**given), headers=who.acting)


async def topics(office: Office) -> list[str]:
    """The topics of all requests, in their order."""
    statement = select(Request).order_by(Request.created_at, Request.id)
    return [one.topic_code for one in await office.all(statement)]


@pytest.mark.rule("NOT-39")
async def test_a_fired_reminder_is_armed_again_when_the_deadline_moves(
    owner: people.Member, office: Office, tender: Reference
) -> None:
    reminder_id = await set_reminder(office, tender)
    first = (await office.get(Reminder, reminder_id)).next_check_at
    await office.timeline().until(datetime(2027, 3, 24, tzinfo=UTC))
    fired = await topics(office)
    await set_reminder(office, tender, due_at=MOVED, sequence=2)
    await office.timeline().settle()
    armed = await office.get(Reminder, reminder_id)
    older = await set_reminder(office, tender, due_at=CLOSING, sequence=1)
    await office.timeline().settle()

    after = await office.get(Reminder, reminder_id)
    events = await office.events("ReminderReanchored")
    told = (await topics(office)).count("notification.deadline_moved")
    print(
        f"first={first.isoformat()} armed_again={armed.next_check_at.isoformat()} "
        f"reanchored={len(events)} moved_messages={told} "
        f"after_sequence_1={after.version - armed.version}"
    )
    assert first == datetime(2027, 3, 23, 9, tzinfo=UTC)
    assert fired == [requests.TOPIC]
    assert (armed.next_check_at, armed.status) == (datetime(2027, 4, 1, 9, tzinfo=UTC), "active")
    assert (armed.round, armed.due_at) == (1, MOVED)
    assert [(one["anchorSequence"], one["rearmed"]) for one in events] == [(2, 1)]
    assert (told, older, after.version) == (1, reminder_id, armed.version)

    await office.timeline().until(datetime(2027, 4, 9, tzinfo=UTC))
    assert (await topics(office)).count(requests.TOPIC) == 2
    assert (await office.get(Reminder, reminder_id)).status == "done"


@pytest.mark.rule("NOT-39")
async def test_each_person_is_told_once_that_a_deadline_moved(
    host: Host, owner: people.Member, office: Office, tender: Reference
) -> None:
    viewer = await people.member(host, office.organization_id, role="viewer")
    some = [Target(kind="users", user_ids=[viewer.user_id])]
    await set_reminder(office, tender, key="all")
    await set_reminder(office, tender, key="one", audience=some)
    await office.timeline().until(datetime(2027, 3, 24, tzinfo=UTC))

    await set_reminder(office, tender, key="all", due_at=MOVED, sequence=2)
    await set_reminder(office, tender, key="one", due_at=MOVED, sequence=2, audience=some)
    await office.timeline().settle()

    statement = select(Notification).where(Notification.topic_code == "notification.deadline_moved")
    told = sorted(str(one.user_id) for one in await office.all(statement))
    assert told == sorted([str(owner.user_id), str(viewer.user_id)])
    assert len(await office.events("ReminderReanchored")) == 2


@pytest.mark.rule("NOT-39")
async def test_a_deadline_that_comes_closer_collapses_what_is_past(
    owner: people.Member, office: Office, tender: Reference
) -> None:
    reminder_id = await set_reminder(office, tender, offsets=[factory.days(5), factory.days(3)])

    await set_reminder(office, tender, due_at=MARCH + timedelta(days=1), sequence=2)
    await office.timeline().settle()

    (event,) = await office.events("ReminderReanchored")
    assert (event["rearmed"], event["collapsed"]) == (0, 2)
    assert await topics(office) == ["notification.deadline_moved"]
    assert (await office.get(Reminder, reminder_id)).status == "done"


async def test_an_unfired_reminder_moves_silently(
    owner: people.Member, office: Office, tender: Reference
) -> None:
    reminder_id = await set_reminder(office, tender)

    await set_reminder(office, tender, due_at=MOVED, sequence=2)

    reminder = await office.get(Reminder, reminder_id)
    assert reminder.next_check_at == datetime(2027, 4, 1, 9, tzinfo=UTC)
    assert (reminder.round, await topics(office)) == (0, [])


async def test_a_repeated_key_keeps_one_reminder_and_clear_cancels_it(
    owner: people.Member, office: Office, tender: Reference
) -> None:
    made = {await set_reminder(office, tender) for _ in range(3)}

    for _ in range(2):
        await LocalReminders(office.host).clear(
            key=str(tender.id), organization_id=office.organization_id
        )
    await office.timeline().until(CLOSING)

    (reminder,) = await office.all(select(Reminder))
    assert made == {reminder.id}
    assert (reminder.status, reminder.cancelled_reason) == ("cancelled", "cleared")
    assert await topics(office) == []


@pytest.mark.rule("NOT-39")
async def test_a_reminder_waits_for_its_anchor_and_ends_with_it(
    api: httpx2.AsyncClient, owner: people.Member, office: Office, tender: Reference
) -> None:
    anchor = {"reference": tender.model_dump(mode="json"), "kind": "closing"}
    made = await post(api, owner, anchor=anchor)
    assert made.status_code == 201, made.text
    assert (made.json()["status"], made.json()["dueAt"]) == ("awaiting_anchor", None)

    async def known(sequence: int, due_at: datetime) -> None:
        work = requests.working(office.host, office.organization_id)
        await reminders.move_anchor(
            work, tender, "closing", due_at=due_at, time_zone=factory.HOME, sequence=sequence
        )
        await work.finish()

    await known(1, CLOSING)
    active = await api.get(f"{PATH}/{made.json()['id']}", headers=owner.acting)
    work = requests.working(office.host, office.organization_id)
    await reminders.withdraw_anchor(work, tender, "closing", sequence=2)
    await work.finish()
    await office.timeline().until(CLOSING)

    ended = await office.get(Reminder, UUID(made.json()["id"]))
    assert active.json()["status"] == "active"
    assert active.json()["nextCheckAt"] == "2027-03-23T09:00:00Z"
    assert (ended.status, ended.cancelled_reason) == ("cancelled", "anchor_withdrawn")
    assert await topics(office) == ["notification.deadline_withdrawn"]


async def test_a_reminder_repeats_until_the_deadline(
    api: httpx2.AsyncClient, owner: people.Member, office: Office
) -> None:
    made = await post(
        api,
        owner,
        dueAt=CLOSING.isoformat(),
        offsets=[{"before": "P5D", "calendar": "working", "atLocalTime": "08:00"}],
        repeat={"every": "P2D", "calendar": "working", "until": "anchor", "max": 30},
    )
    assert made.status_code == 201, made.text

    await office.timeline().until(datetime(2027, 4, 20, tzinfo=UTC))

    statement = select(Request).order_by(Request.created_at)
    times = [one.created_at.strftime("%d %H:%M") for one in await office.all(statement)]
    assert times == ["23 06:00", "25 06:00", "31 06:00"]  # 26 and 29 March are holidays
    assert (await office.get(Reminder, UUID(made.json()["id"]))).status == "done"


async def test_a_repeat_ends_when_somebody_acknowledges(
    api: httpx2.AsyncClient, owner: people.Member, office: Office
) -> None:
    repeat = {"every": "PT2M", "calendar": "clock", "until": "acknowledged", "max": 5}
    made = await post(
        api,
        owner,
        dueAt=(MARCH + timedelta(minutes=3)).isoformat(),
        offsets=[{"before": "PT1M"}],
        repeat=repeat,
    )
    await office.timeline().until(MARCH + timedelta(minutes=5))
    sent = len(await topics(office))
    (message, *_) = await office.all(select(Notification).order_by(Notification.created_at))
    answer = await api.post(f"/notifications/{message.id}/acknowledge", headers=owner.acting)
    await office.timeline().until(MARCH + timedelta(days=3))

    assert answer.status_code == 200, answer.text
    assert (sent, len(await topics(office))) == (2, 2)
    assert (await office.get(Reminder, UUID(made.json()["id"]))).status == "done"


@pytest.mark.parametrize(
    ("given", "code", "pointer"),
    [
        (
            {"anchor": {"reference": factory.reference().model_dump(mode="json"), "kind": "x"}},
            "notification-anchor-unknown",
            "/anchor/kind",
        ),
        ({"dueAt": "2027-03-02T09:00:00Z"}, "validation-failed", "/dueAt"),
        ({"dueAt": None}, "rule-violated", None),
        ({"offsets": [{"before": "PT5H", "calendar": "working"}]}, "rule-violated", None),
        ({"facts": {}}, "notification-facts-mismatch", "/facts/title"),
    ],
)
async def test_what_cannot_be_reminded_of_is_refused(
    api: httpx2.AsyncClient,
    owner: people.Member,
    office: Office,
    given: dict[str, Any],
    code: str,
    pointer: str | None,
) -> None:
    answer = await post(api, owner, **given)

    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert pointer is None or pointer in [one["pointer"] for one in answer.json()["errors"]]
    assert await office.all(select(Reminder)) == []


async def test_reminders_are_listed_read_and_cancelled(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, office: Office
) -> None:
    viewer = await people.member(host, office.organization_id, role="viewer")
    stranger = await people.member(host, uuid4(), role="owner")
    made = (await post(api, owner)).json()
    path = f"{PATH}/{made['id']}"
    await set_reminder(office, factory.reference())

    mine = await api.get(f"{PATH}?mine=true&sort=nextCheckAt", headers=owner.acting)
    about = await api.get(f"{PATH}?aboutId={made['about']['id']}", headers=owner.acting)
    late = await api.get(f"{PATH}?dueTo=2027-04-02T00:00:00Z", headers=owner.acting)
    elsewhere = await api.get(path, headers=stranger.acting)
    missing = await api.get(f"{PATH}/{uuid4()}", headers=stranger.acting)
    cancelled = [(await api.delete(path, headers=owner.acting)).status_code for _ in range(2)]
    shown = (await api.get(path, headers=owner.acting)).json()

    assert [one["id"] for one in mine.json()["items"]] == [made["id"]]
    assert [one["id"] for one in about.json()["items"]] == [made["id"]]
    assert [one["sourceDomain"] for one in late.json()["items"]] == ["organization"]
    assert (await post(api, viewer)).status_code == 403
    assert (elsewhere.status_code, missing.status_code) == (404, 404)
    assert cancelled == [204, 204]
    assert (shown["status"], shown["cancelledReason"]) == ("cancelled", "requested")
    assert [one["skippedReason"] for one in shown["occurrences"]] == ["cancelled"]


@pytest.mark.rule("NOT-48")
async def test_a_reminder_ends_when_its_creator_loses_the_right(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, office: Office
) -> None:
    sender = await people.member(host, office.organization_id, role="bid_manager")
    made = await post(api, sender, dueAt=CLOSING.isoformat())
    work = people.working(host, office.organization_id)
    await people.permission(work, sender, "notification:reminder:create", effect="deny")
    await work.finish()

    await office.timeline().until(CLOSING)

    reminder = await office.get(Reminder, UUID(made.json()["id"]))
    assert (reminder.status, reminder.cancelled_reason) == ("cancelled", "requester_not_allowed")
    assert await topics(office) == []


SIX_BEFORE = datetime(2027, 3, 19, 9, tzinfo=UTC)  # 22 March is the moved Human Rights Day


def six_before() -> datetime:
    return reminders.due(factory.days(6), CLOSING, factory.HOME)


@pytest.mark.rule("NOT-40")
def test_a_moved_monday_is_no_working_day() -> None:
    assert six_before() == SIX_BEFORE


def test_planted_calendar_without_moved_mondays_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = calendar.is_working_day

    def without_moved(day: date, extra: Any = frozenset()) -> bool:
        moved = day.weekday() == 0 and (day - timedelta(days=1)) in calendar._holidays(day.year)
        return moved or right(day, extra)

    plant(monkeypatch, calendar, "is_working_day", without_moved)

    assert six_before() != SIX_BEFORE


def test_working_day_vectors() -> None:
    vectors = [
        ("2027-01-05", 3, "2026-12-30", ()),
        ("2026-12-17", 1, "2026-12-15", ()),
        ("2026-11-05", 1, "2026-11-03", (date(2026, 11, 4),)),
        ("2026-12-27", 1, "2026-12-24", ()),
        ("2027-04-01", 5, "2027-03-23", ()),
        ("2027-04-08", 5, "2027-04-01", ()),
    ]
    right = 0
    for day, number, expected, extra in vectors:
        deadline = datetime.fromisoformat(f"{day}T11:00:00+02:00")
        offset: Offset = factory.days(number)
        found = reminders.due(offset, deadline, factory.HOME, extra=frozenset(extra))
        right += found == datetime.fromisoformat(f"{expected}T11:00:00+02:00")
    print(f"time_vectors={right}/{len(vectors)}")
    assert right == len(vectors)
