"""Plans backwards from the closing, and tasks that wait for each other."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from random import Random
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import holidays
import httpx2
import pytest

from tests.conftest import Time
from tests.factories import bid as factory
from tests.factories import identity as people
from tests.factories.identity import Member
from tests.suites.calls import keys
from thenga.domains.bid.services.planning import schedule
from thenga.domains.bid.services.planning.schedule import STANDARD
from thenga.domains.bid.tables import Task
from thenga.kernel.process.host import Host

ZONE = ZoneInfo("Africa/Johannesburg")
CLOSING = datetime(2027, 4, 1, 9, tzinfo=UTC)
# Days of March, by working days before Thursday 1 April 2027.
VECTOR = {10: 15, 8: 17, 6: 19, 5: 23, 4: 24, 3: 25, 2: 30, 1: 31}


def planned(closing_at: datetime, days: int) -> datetime:
    return schedule.due_before(
        closing_at, days, due_time=time(16), zone="Africa/Johannesburg", extra=frozenset()
    )


@pytest.mark.rule("BID-7")
def test_the_standard_plan_has_the_worked_dates() -> None:
    for _, days in STANDARD.values():
        due = planned(CLOSING, days)
        assert due == datetime(2027, 3, VECTOR[days], 14, tzinfo=UTC)

    moved = CLOSING + timedelta(days=7)
    found = {days: planned(moved, days).astimezone(ZONE).date() for days in (6, 4, 2, 1)}
    assert found == {
        6: date(2027, 3, 31),
        4: date(2027, 4, 2),
        2: date(2027, 4, 6),
        1: date(2027, 4, 7),
    }


def slow(closing: date, days: int, is_off: Callable[[date], bool]) -> date:
    """Walk back day by day, by the holidays as the Act has them."""
    day = closing
    while days:
        day -= timedelta(days=1)
        if not is_off(day):
            days -= 1
    return day


@cache
def calendar_of(year: int) -> dict[date, str]:
    return dict(holidays.country_holidays("ZA", years=year))


def is_off(day: date) -> bool:
    return day.weekday() >= 5 or day in calendar_of(day.year)


def is_off_unmoved(day: date) -> bool:
    """Planted: a holiday on a Sunday is not moved to the Monday."""
    calendar = calendar_of(day.year)
    return day.weekday() >= 5 or (day in calendar and "observed" not in calendar[day])


@pytest.mark.rule("BID-7")
def test_a_thousand_plans_agree_with_a_slow_calendar() -> None:
    chance = Random(7)  # a test's dice
    closings = [
        datetime(2024, 1, 3, 9, tzinfo=UTC) + timedelta(days=chance.randrange(3650))
        for _ in range(1000)
    ]

    def differing(calendar: Callable[[date], bool]) -> int:
        return sum(
            planned(closing, days).astimezone(ZONE).date()
            != slow(closing.astimezone(ZONE).date(), days, calendar)
            for closing in closings
            for days in (1, 4, 10)
        )

    wrong, planted = differing(is_off), differing(is_off_unmoved)
    print(f"plans={len(closings)} differing={wrong} planted_differing={planted}")
    assert wrong == 0
    assert planted > 0


@pytest.mark.rule("BID-7")
async def test_a_plan_is_made_again_and_put_in_force(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time
) -> None:
    clock.set(datetime(2027, 3, 1, 8, tzinfo=UTC))
    owner = await factory.company(host)
    tender = await factory.tender(host, closing_at=CLOSING)
    made = await factory.workspace(host, owner.organization_id, owner.user_id, of_tender=tender)
    path = f"/bids/workspaces/{made.id}/plan"

    first = (await api.get(path, headers=owner.acting)).json()
    late = {"title": "Party", "dueAt": "2027-04-01T09:00:01Z"}
    refused = await api.post(path, json={"milestones": {"party": late}}, headers=owner.acting)
    own = {"title": "Draft", "daysBefore": 5, "ownerUserId": str(owner.user_id)}
    body = {"milestones": {"draft": own}, "baseline": True, "dueTime": "12:00"}
    second = await api.post(path, json=body, headers=owner.acting)
    stranger = own | {"ownerUserId": str(uuid4())}
    unknown = await api.post(path, json={"milestones": {"x": stranger}}, headers=owner.acting)

    shown = {one["key"]: one["dueAt"] for one in first["milestones"]}
    assert (first["revision"], first["status"]) == (1, "draft")
    assert shown["kick_off"] == "2027-03-15T14:00:00Z"
    assert shown["delivered"] == "2027-03-31T14:00:00Z"
    assert (refused.status_code, refused.json()["code"]) == (422, "bid-milestone-after-closing")
    assert second.status_code == 201, second.text
    assert (second.json()["revision"], second.json()["status"]) == (2, "baselined")
    assert second.json()["milestones"][0]["dueAt"] == "2027-03-23T10:00:00Z"
    assert (unknown.status_code, unknown.json()["code"]) == (422, "bid-person-unknown")
    (told,) = await factory.told(host, owner.organization_id, "BidPlanBaselined")
    assert told["data"]["milestones"] == [{"key": "draft", "dueAt": "2027-03-23T10:00:00Z"}]


class Tasks:
    """Tasks of one bid, over HTTP."""

    def __init__(self, api: httpx2.AsyncClient, owner: Member, workspace_id: UUID) -> None:
        self.api, self.owner = api, owner
        self.path = f"/bids/workspaces/{workspace_id}/tasks"

    async def add(self, title: str, **body: Any) -> dict[str, Any]:
        made = await self.api.post(
            self.path, json={"title": title} | body, headers=self.owner.acting
        )
        assert made.status_code == 201, made.text
        shown: dict[str, Any] = made.json()
        return shown

    async def change(
        self, task: dict[str, Any], who: Member | None = None, **body: Any
    ) -> httpx2.Response:
        path = f"/bids/tasks/{task['id']}"
        return await self.api.patch(path, json=body, headers=(who or self.owner).acting)


@pytest.fixture
async def tasks(api: httpx2.AsyncClient, host: Host, owner: Member) -> Tasks:
    made = await factory.workspace(host, owner.organization_id, owner.user_id)
    return Tasks(api, owner, made.id)


@pytest.mark.rule("BID-9")
async def test_a_circle_of_tasks_is_refused_with_its_path(
    tasks: Tasks, host: Host, owner: Member
) -> None:
    first = await tasks.add("A")
    second = await tasks.add("B", dependsOn=[first["id"]])

    circle = await tasks.change(first, dependsOn=[second["id"]])
    alone = await tasks.change(first, dependsOn=[first["id"]])
    other = await factory.workspace(host, owner.organization_id, owner.user_id)
    foreign = await factory.task(host, owner.organization_id, other.id)
    stranger = await tasks.change(first, dependsOn=[str(foreign.id)])

    assert (circle.status_code, circle.json()["code"]) == (422, "bid-dependency-cycle")
    assert set(circle.json()["path"]) == {first["id"], second["id"]}
    assert alone.json()["code"] == "bid-dependency-cycle"
    assert (stranger.status_code, stranger.json()["rule"]) == (422, "BID-9")


@pytest.mark.rule("BID-9")
async def test_a_task_waits_for_what_it_depends_on(tasks: Tasks, host: Host, owner: Member) -> None:
    reviewer = await people.member(host, owner.organization_id, role="approver")
    first = await tasks.add("A")
    second = await tasks.add(
        "B",
        dependsOn=[first["id"]],
        ownerUserId=str(owner.user_id),
        reviewerUserId=str(reviewer.user_id),
    )

    early = await tasks.change(second, move="start")
    await tasks.change(first, move="cancel", reason="Not needed")
    await tasks.change(second, move="block", reason="No answer yet")
    blocked = await tasks.change(second, move="start")
    await tasks.change(second, move="unblock")
    started = await tasks.change(second, move="start")
    own = await tasks.change(second, move="finish")
    scopes = ["bid:task:update", "bid:task:read"]
    text = await keys.key(host, owner, owner.organization_id, scopes)
    own_key = replace(owner, token=text)
    by_key = await tasks.change(second, own_key, move="finish")
    unreviewed = await tasks.change(second, own_key, reviewerUserId=None)
    finished = await tasks.change(second, reviewer, move="finish")
    again = await tasks.change(second, reviewer, move="finish")

    assert (early.status_code, early.json()["taskIds"]) == (409, [first["id"]])
    assert (blocked.status_code, blocked.json()["code"]) == (409, "bid-task-blocked")
    assert started.json()["status"] == "in_progress", started.text
    assert (own.status_code, own.json()["code"]) == (403, "same-person")
    assert (by_key.status_code, by_key.json()["code"]) == (403, "same-person")
    assert (unreviewed.status_code, unreviewed.json()["code"]) == (403, "forbidden")
    assert (finished.json()["status"], again.status_code) == ("done", 200), finished.text
    assert again.json()["version"] == finished.json()["version"]


async def reviewed(
    tasks: Tasks, host: Host, company: UUID
) -> tuple[dict[str, Any], Member, Member, Member]:
    """A task with its owner, its reviewer and a colleague whom it does not concern."""
    writer, reviewer, other = [
        await people.member(host, company, role="contributor") for _ in range(3)
    ]
    assigned = {"ownerUserId": str(writer.user_id), "reviewerUserId": str(reviewer.user_id)}
    return await tasks.add("A", **assigned), writer, reviewer, other


@pytest.mark.rule("BID-9")
async def test_a_task_is_blocked_only_by_those_it_concerns(
    tasks: Tasks, host: Host, owner: Member
) -> None:
    task, writer, reviewer, other = await reviewed(tasks, host, owner.organization_id)

    stranger = await tasks.change(task, other, move="block", reason="No time")
    blocked = await tasks.change(task, writer, move="block", reason="No answer yet")
    freed = await tasks.change(task, other, move="unblock")
    by_reviewer = await tasks.change(task, reviewer, move="unblock")
    by_manager = await tasks.change(task, move="block", reason="On hold")

    for refused in (stranger, freed):
        assert (refused.status_code, refused.json()["reasonCode"]) == (403, "not_the_owner")
    assert blocked.json()["blocked"]["by"] == str(writer.user_id), blocked.text
    assert (by_reviewer.status_code, by_reviewer.json()["blocked"]) == (200, None)
    assert by_manager.json()["blocked"]["reason"] == "On hold", by_manager.text


@pytest.mark.rule("BID-9")
async def test_who_is_reviewed_cannot_change_the_reviewer(
    tasks: Tasks, host: Host, owner: Member
) -> None:
    task, writer, reviewer, other = await reviewed(tasks, host, owner.organization_id)
    await tasks.change(task, writer, move="start")

    removed = await tasks.change(task, writer, reviewerUserId=None, move="finish")
    same = await tasks.change(task, writer, reviewerUserId=str(reviewer.user_id))
    passed_on = await tasks.change(task, reviewer, reviewerUserId=str(other.user_id))
    by_manager = await tasks.change(task, reviewerUserId=None)

    assert (removed.status_code, removed.json()["reasonCode"]) == (403, "not_the_owner")
    assert same.status_code == 200
    assert passed_on.json()["reviewerUserId"] == str(other.user_id)
    assert by_manager.json()["reviewerUserId"] is None


@pytest.mark.rule("BID-9")
async def test_overdue_is_seen_at_once_and_told_once(
    api: httpx2.AsyncClient, tasks: Tasks, host: Host, owner: Member, clock: Time
) -> None:
    due = clock.now().replace(microsecond=0) + timedelta(minutes=5)
    task = await tasks.add("A", dueAt=due.isoformat(), ownerUserId=str(owner.user_id))

    clock.move(timedelta(minutes=6))
    late = (await api.get("/bids/tasks?overdue=true&ownerUserId=me", headers=owner.acting)).json()
    clock.move(timedelta(days=30))
    for _ in range(3):
        work = factory.working(host, owner.organization_id)
        await factory.planning.tell_overdue(work, UUID(task["id"]))
        await work.finish()

    told = await factory.told(host, owner.organization_id, "BidTaskOverdue")
    print(f"overdue_told={len(told)}")
    assert [(one["id"], one["overdue"]) for one in late["items"]] == [(task["id"], True)]
    assert len(told) == 1
    (row,) = await factory.rows(host, Task, owner.organization_id)
    assert row.next_check_at is None


@pytest.mark.rule("BID-9")
async def test_who_leaves_loses_tasks_and_sections(tasks: Tasks, host: Host, owner: Member) -> None:
    writer = await people.member(host, owner.organization_id, role="contributor")
    task = await tasks.add("A", ownerUserId=str(writer.user_id))

    work = factory.working(host, owner.organization_id)
    await factory.workspaces.release_person(work, writer.user_id)
    await factory.planning.release_owner(work, writer.user_id)
    await work.finish()

    told = await factory.told(host, owner.organization_id, "BidTaskAssigned")
    assert [one["data"]["ownerUserId"] for one in told] == [str(writer.user_id), None]
    (row,) = await factory.rows(host, Task, owner.organization_id, id=UUID(task["id"]))
    assert row.owner_user_id is None
