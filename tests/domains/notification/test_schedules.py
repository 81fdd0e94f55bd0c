"""Schedules over HTTP: checked when saved, sent at local times, suspended without permission."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
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
from tests.letters import Letters
from tests.planting import plant

from thenga.domains.notification.provider import LocalEscalations, LocalReminders
from thenga.domains.notification.services.reminders import Timing, acting
from thenga.domains.notification.tables import Notification, Request, Schedule
from thenga.kernel.process.host import Host

PATH = "/notifications/schedules"
FRIDAY = datetime(2027, 1, 1, 8, tzinfo=UTC)


@pytest.fixture
async def office(app: FastAPI, host: Host, seeded: None) -> AsyncIterator[Office]:
    """A sandbox: its messages are captured and not sent."""
    made = requests.with_ports(host)
    time = Time(app.state.shared.host, host, made)
    time.set(FRIDAY)
    organization_id = uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)
    yield Office(made, time, organization_id)
    time.restore()


@pytest.fixture
async def owner(host: Host, office: Office) -> people.Member:
    return await people.member(host, office.organization_id, role="owner")


async def post(api: httpx2.AsyncClient, who: people.Member, **given: Any) -> httpx2.Response:
    return await api.post(PATH, json=factory.schedule_body(**given), headers=who.acting)


async def made(api: httpx2.AsyncClient, who: people.Member, **given: Any) -> dict[str, Any]:
    answer = await post(api, who, **given)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def sent(office: Office) -> list[Request]:
    return await office.all(select(Request).order_by(Request.created_at))


@pytest.mark.rule("NOT-38")
@pytest.mark.parametrize(
    "rule", ["FREQ=DAILY;INTERVAL=0", "FREQ=SECONDLY", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31"]
)
async def test_a_rule_that_never_fires_is_refused_quickly(
    api: httpx2.AsyncClient, owner: people.Member, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []
    rules = import_module("thenga.domains.notification.services.reminders.recurrence")
    monkeypatch.setattr(rules, "rrulestr", lambda text, **_: computed.append(text))

    answer = await post(api, owner, rrule=rule)

    print(f"rule={rule} status={answer.status_code} computed={len(computed)}")
    assert (answer.status_code, answer.json()["code"]) == (422, "notification-rrule-refused")
    assert computed == []  # the library would compute for seconds, or for ever


@pytest.mark.rule("NOT-38")
@pytest.mark.parametrize("count", ["0", "10001"])
async def test_a_count_out_of_range_is_named_with_its_bounds(
    api: httpx2.AsyncClient, owner: people.Member, count: str
) -> None:
    answer = await post(api, owner, rrule=f"FREQ=DAILY;COUNT={count}")

    assert answer.json()["errors"] == [
        {"pointer": "/rrule", "code": "count", "detail": "Use a COUNT from 1 to 10000."}
    ]


@pytest.mark.rule("NOT-38")
async def test_a_weekly_schedule_is_sent_at_its_local_time(
    api: httpx2.AsyncClient, owner: people.Member, office: Office
) -> None:
    weekly = await made(api, owner)
    assert weekly["nextCheckAt"] == "2027-01-04T07:00:00Z"

    await office.timeline().until(datetime(2027, 1, 19, tzinfo=UTC))
    await office.timeline().settle()

    times = [one.created_at.isoformat() for one in await sent(office)]
    schedule = await office.get(Schedule, UUID(weekly["id"]))
    assert times == [f"2027-01-{day}T07:00:00+00:00" for day in ("04", "11", "18")]
    assert schedule.next_check_at == datetime(2027, 1, 25, 7, tzinfo=UTC)
    assert (schedule.fired_count, schedule.missed_count) == (3, 0)


@pytest.mark.rule("NOT-38")
@pytest.mark.parametrize(
    ("back", "misfire", "messages", "missed"),
    [
        (timedelta(hours=2), "fire_once", 1, 3),
        (timedelta(days=2), "fire_once", 0, 4),
        (timedelta(hours=2), "skip", 0, 4),
    ],
)
async def test_after_three_weeks_down_one_message_or_none(
    api: httpx2.AsyncClient,
    owner: people.Member,
    office: Office,
    back: timedelta,
    misfire: str,
    messages: int,
    missed: int,
) -> None:
    weekly = await made(api, owner, misfire=misfire)

    office.clock.set(datetime(2027, 1, 25, 7, tzinfo=UTC) + back)
    await office.timeline().settle()
    await office.timeline().settle()

    schedule = await office.get(Schedule, UUID(weekly["id"]))
    found = len(await sent(office))
    print(f"down_weeks=3 back_after={back} misfire={misfire} sent={found} missed={missed}")
    assert (found, schedule.fired_count, schedule.missed_count) == (messages, messages, missed)
    assert schedule.status == "active"
    assert schedule.next_check_at == datetime(2027, 2, 1, 7, tzinfo=UTC)


async def test_a_single_time_is_completed_or_missed(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, office: Office
) -> None:
    early = await made(api, owner, rrule=None, startsAt="2027-01-04T09:00:00")
    late = await made(api, owner, rrule=None, startsAt="2027-01-01T18:00:00", misfireGrace="PT1H")

    office.clock.set(datetime(2027, 1, 4, 8, tzinfo=UTC))
    await office.timeline().settle()

    assert (await office.get(Schedule, UUID(early["id"]))).status == "completed"
    assert (await office.get(Schedule, UUID(late["id"]))).status == "missed"
    later = await people.member(host, office.organization_id, role="owner")
    again = await api.delete(f"{PATH}/{early['id']}", headers=later.acting)
    assert (again.status_code, again.json()["code"]) == (409, "invalid-transition")


async def lose_permission(host: Host, who: people.Member) -> None:
    work = people.working(host, who.organization_id)
    await people.permission(work, who, "notification:schedule:create", effect="deny")
    await work.finish()


async def losing_the_permission(
    api: httpx2.AsyncClient, host: Host, office: Office
) -> tuple[Schedule, list[Request]]:
    """What becomes of a schedule whose creator lost the permission before it was due."""
    sender = await people.member(host, office.organization_id, role="bid_manager")
    weekly = await made(api, sender)
    await lose_permission(host, sender)
    await office.timeline().until(datetime(2027, 1, 12, tzinfo=UTC))
    schedule: Schedule = await office.get(Schedule, UUID(weekly["id"]))
    return schedule, await sent(office)


@pytest.mark.rule("NOT-48")
async def test_a_creator_without_the_permission_sends_nothing(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, office: Office
) -> None:
    schedule, found = await losing_the_permission(api, host, office)

    own = [one for one in found if one.topic_code == requests.TOPIC]
    told = [one for one in found if one.topic_code == "notification.schedule_suspended"]
    messages = await office.all(select(Notification))
    print(f"status={schedule.status} sent={len(own)} administrators_told={len(told)}")
    assert (schedule.status, schedule.suspended_reason) == ("suspended", "requester_not_allowed")
    assert schedule.next_check_at is None
    assert (len(own), len(told)) == (0, 1)
    assert [one.user_id for one in messages] == [owner.user_id]


async def test_planted_firing_without_asking_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def always(*_: object) -> bool:
        return True

    plant(monkeypatch, acting, "is_allowed", always)

    schedule, _ = await losing_the_permission(api, host, office)

    assert schedule.status != "suspended"


@pytest.mark.parametrize(
    ("given", "code", "pointer"),
    [
        (
            {"request": factory.message(facts={"title": "No text"})},
            "notification-facts-mismatch",
            "/facts/message",
        ),
        (
            {"request": factory.message(topicCode="billing.receipt")},
            "notification-topic-unknown",
            "/topicCode",
        ),
        (
            {"request": factory.message(audience=[{"kind": "role", "roleCode": "approver"}])},
            "notification-audience-empty",
            "/audience",
        ),
        ({"rrule": None, "startsAt": "2026-12-31T09:00:00"}, "notification-schedule-empty", None),
        (
            {"rrule": "FREQ=WEEKLY;BYDAY=SA", "onNonWorkingDay": "skip"},
            "notification-schedule-empty",
            None,
        ),
        ({"startsAt": "2020-01-01T09:00:00"}, "rule-violated", None),
        ({"startsAt": "2027-02-30T09:00:00"}, "validation-failed", "/startsAt"),
        ({"kind": "once"}, "rule-violated", None),
        ({"misfireGrace": "P8D"}, "rule-violated", None),
    ],
)
async def test_what_cannot_be_sent_is_refused_when_saved(
    api: httpx2.AsyncClient,
    owner: people.Member,
    office: Office,
    given: dict[str, Any],
    code: str,
    pointer: str | None,
) -> None:
    answer = await post(api, owner, **given)

    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    if pointer is not None:
        assert pointer in [one["pointer"] for one in answer.json()["errors"]]
    assert await office.all(select(Schedule)) == []


async def test_a_schedule_is_changed_and_cancelled(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, office: Office
) -> None:
    other = await people.member(host, office.organization_id, role="bid_manager")
    weekly = await made(api, owner)
    path = f"{PATH}/{weekly['id']}"

    changed = await api.patch(path, json={"rrule": "FREQ=DAILY"}, headers=other.acting)
    stale = await api.patch(
        path, json={"name": "Daily"}, headers=owner.acting | {"If-Match": '"1"'}
    )
    listed = await api.get(f"{PATH}?status=active&sort=nextCheckAt", headers=owner.acting)
    cancelled = [(await api.delete(path, headers=owner.acting)).status_code for _ in range(2)]
    after = await api.patch(path, json={"name": "Daily"}, headers=owner.acting)
    shown = await api.get(path, headers=owner.acting)

    assert changed.status_code == 200, changed.text
    assert changed.json()["actsFor"] == str(other.user_id)
    assert changed.json()["nextCheckAt"] == "2027-01-04T07:00:00Z"
    assert stale.status_code == 412
    assert [one["id"] for one in listed.json()["items"]] == [weekly["id"]]
    assert cancelled == [204, 204]
    assert (after.status_code, after.json()["code"]) == (409, "invalid-transition")
    assert (shown.json()["status"], shown.json()["nextCheckAt"]) == ("cancelled", None)
    await office.timeline().until(datetime(2027, 1, 12, tzinfo=UTC))
    assert await sent(office) == []


async def test_viewers_cannot_schedule_and_other_tenants_find_nothing(
    api: httpx2.AsyncClient, host: Host, owner: people.Member
) -> None:
    viewer = await people.member(host, owner.organization_id, role="viewer")
    stranger = await people.member(host, uuid4(), role="owner")
    weekly = await made(api, owner)

    elsewhere = await api.get(f"{PATH}/{weekly['id']}", headers=stranger.acting)
    missing = await api.get(f"{PATH}/{uuid4()}", headers=stranger.acting)
    cancelled = await api.delete(f"{PATH}/{weekly['id']}", headers=stranger.acting)

    assert (await post(api, viewer)).status_code == 403
    assert (elsewhere.status_code, missing.status_code, cancelled.status_code) == (404, 404, 404)
    assert elsewhere.json()["title"] == missing.json()["title"]


HERITAGE = datetime(2027, 9, 24, 9)  # noqa: DTZ001  # a Friday, and a public holiday


@pytest.mark.rule("NOT-38")
@pytest.mark.parametrize(
    ("choice", "expected"),
    [("send", "2027-09-24"), ("next", "2027-09-27"), ("previous", "2027-09-23"), ("skip", None)],
)
def test_a_public_holiday_moves_an_occasion(choice: Any, expected: str | None) -> None:
    timing = Timing(HERITAGE, factory.HOME, on_non_working_day=choice)

    found = timing.pass_until(datetime(2027, 9, 1, tzinfo=UTC)).ahead

    assert (found and found.local.date().isoformat()) == expected


def test_occasions_that_move_to_one_day_are_one() -> None:
    timing = Timing(HERITAGE, factory.HOME, "FREQ=DAILY", on_non_working_day="next")

    passed = timing.pass_until(datetime(2027, 9, 27, 8, tzinfo=UTC))

    assert passed.count == 1  # Friday to Monday
    assert passed.ahead is not None
    assert passed.ahead.local.date() == date(2027, 9, 28)


async def test_a_jump_of_400_days_sends_everything_once_and_in_order(
    api: httpx2.AsyncClient,
    owner: people.Member,
    office: Office,
    letters: Letters,
) -> None:
    await made(api, owner, rrule="FREQ=MONTHLY;BYMONTHDAY=4")
    await LocalReminders(office.host).set(
        key="jump",
        organization_id=office.organization_id,
        anchor=factory.reference(),
        due_at=datetime(2027, 4, 1, 9, tzinfo=UTC),
        time_zone=factory.HOME,
        sequence=1,
        offsets=[factory.days(5), factory.days(1)],
        topic_code=requests.TOPIC,
        audience=factory.members(),
        facts=requests.FACTS,
    )
    await LocalEscalations(office.host).open(
        key="jump",
        organization_id=office.organization_id,
        policy_key="billing.payment",
        about=factory.reference("paymentFailure", "billing"),
        facts=factory.PAYMENT_FACTS,
    )
    await office.timeline().until(FRIDAY + timedelta(days=400))
    first = await sent(office)
    await office.timeline().settle()
    again = len(await sent(office)) - len(first)

    mails = letters.count(f"{owner.user_id}@example.test")
    kinds = [str(one.dedupe_key).split()[0] for one in first]
    counts = {kind: kinds.count(kind) for kind in ("schedule", "reminder", "escalation")}
    in_order = [one.created_at for one in first] == sorted(one.created_at for one in first)
    print(f"jump_days=400 fired={counts} in_order={in_order} second_sweep={again} smtp={mails}")
    assert counts == {"schedule": 14, "reminder": 2, "escalation": 4}
    assert (again, in_order) == (0, True)
    assert mails == 0
