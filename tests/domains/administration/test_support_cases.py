"""Support cases: opened by customers, worked on by staff, with targets in working minutes."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
from sqlalchemy import select

from tests.conftest import Time
from tests.factories import identity
from tests.factories import support as cases
from tests.factories.identity import Member, Person
from tests.factories.support import PATH, REASON
from tests.planting import plant
from tests.world import World
from thenga.domains.administration.services.support import clock as case_clock
from thenga.domains.administration.tables import AdminAction, SupportCase, SupportMessage
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host

OPENED_AT = datetime(2026, 12, 15, 14, 30, tzinfo=UTC)  # Tuesday 16:30, local


@pytest.fixture
async def customer(host: Host, seeded: None) -> Member:
    return await identity.member(host, uuid4(), role="owner")


@pytest.fixture
async def staff(host: Host, seeded: None) -> Person:
    return await cases.agent(host)


async def events(host: Host, case_id: str) -> list[tuple[str, str | None]]:
    """What was published of a case, and for whom."""
    async with host.engines.connection("administration", "administration_system") as connection:
        rows = await connection.fetch(
            "SELECT envelope::jsonb ->> 'type' AS type, "
            "envelope::jsonb ->> 'organizationid' AS whose FROM administration.outbox "
            "WHERE aggregate LIKE '%' || $1 ORDER BY position",
            case_id,
        )
    return [(row["type"].split(".")[1], row["whose"]) for row in rows]


async def names(host: Host, case_id: str) -> list[str]:
    return [name for name, _ in await events(host, case_id)]


async def acted(host: Host, resource_id: str) -> list[AdminAction]:
    """The admin actions on a resource."""
    scope = Scope(actor=SYSTEM, platform=True)
    read = Reader(host, "administration", scope, Origin("test", "test", "test"))
    try:
        statement = select(AdminAction).where(AdminAction.resource_id == UUID(resource_id))
        return await read.all(statement)
    finally:
        await read.close()


async def test_a_case_is_opened_and_read_by_both_sides(
    api: httpx2.AsyncClient, host: Host, customer: Member, staff: Person
) -> None:
    made = await cases.opened(api, customer)

    mine = await api.get(f"{PATH}/{made['id']}", headers=customer.acting)
    theirs = await api.get(f"{PATH}/{made['id']}", headers=staff.headers)

    assert (made["number"], made["status"], made["priority"]) == ("SC-0001", "new", "high")
    assert mine.json() == made | {"sla": mine.json()["sla"]}
    assert [move["move"] for move in theirs.json()["allowedMoves"]] == ["triage", "resolve"]
    assert made["allowedMoves"] == []
    assert await events(host, made["id"]) == [("SupportCaseOpened", str(customer.organization_id))]


async def test_each_customer_counts_its_own_cases(
    api: httpx2.AsyncClient, host: Host, customer: Member
) -> None:
    other = await identity.member(host, uuid4(), role="viewer")

    made = [await cases.opened(api, who) for who in (customer, other, customer)]

    assert [one["number"] for one in made] == ["SC-0001", "SC-0001", "SC-0002"]


@pytest.mark.rule("ADM-21")
async def test_targets_are_right_to_the_second_before_any_job(
    api: httpx2.AsyncClient, host: Host, clock: Time
) -> None:
    clock.set(OPENED_AT)
    customer = await identity.member(host, uuid4(), role="owner")
    made = await cases.opened(api, customer)
    clock.set(datetime(2026, 12, 17, 9, 29, 59, tzinfo=UTC))
    customer = await identity.member(host, customer.organization_id, role="owner")

    before = await api.get(f"{PATH}/{made['id']}", headers=customer.acting)
    clock.set(datetime(2026, 12, 17, 9, 30, tzinfo=UTC))
    after = await api.get(f"{PATH}/{made['id']}", headers=customer.acting)

    sla = made["sla"]
    assert sla["firstResponse"]["dueAt"] == "2026-12-17T09:30:00Z"
    assert sla["resolution"]["dueAt"] == "2026-12-18T14:30:00Z"
    states = [a.json()["sla"]["firstResponse"]["state"] for a in (before, after)]
    assert states == ["running", "breached"]
    assert await names(host, made["id"]) == ["SupportCaseOpened"]


async def _breached(world: World) -> dict[str, int]:
    """How often each target of a case is told to be missed, when time passes and jobs repeat."""
    await world.at("2026-12-15")
    who = await world.as_("owner")
    case = await cases.case(world.host, who.user_id, world.organization_id)

    await world.until("2027-01-15")
    await world.timeline.settle()
    work = cases.working(world.host, who.user_id, world.organization_id)
    await case_clock.tell_breach(work, case.id)  # a job that runs once more
    await work.finish()

    told = await _targets(world.host, str(case.id))
    return {target: told.count(target) for target in ("first_response", "resolution")}


async def _targets(host: Host, case_id: str) -> list[str]:
    async with host.engines.connection("administration", "administration_system") as connection:
        rows = await connection.fetch(
            "SELECT envelope::jsonb -> 'data' ->> 'target' AS target "
            "FROM administration.outbox WHERE aggregate LIKE '%' || $1 "
            "AND envelope LIKE '%SupportCaseBreached%' ORDER BY position",
            case_id,
        )
    return [row["target"] for row in rows]


@pytest.mark.rule("ADM-23")
async def test_a_missed_target_is_told_once(world: World) -> None:
    told = await _breached(world)

    print(f"targets=2 told={sum(told.values())} twice={sum(n > 1 for n in told.values())}")
    assert told == {"first_response": 1, "resolution": 1}


async def test_a_planted_breach_that_is_told_twice_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def careless(work: Work, case_id: UUID) -> None:
        case = await work.lock(SupportCase, case_id)
        dues = {"first_response": case.response_due_at, "resolution": case.due_at}
        await work.touch(case)
        for target, due_at in dues.items():
            if due_at <= work.now:
                work.publish(case_clock._event(case, target, due_at), to=case.organization_id)

    plant(monkeypatch, case_clock, "tell_breach", careless)

    told = await _breached(world)

    assert max(told.values()) > 1


@pytest.mark.rule("ADM-20")
async def test_priority_is_lowered_only_with_a_reason(
    api: httpx2.AsyncClient, customer: Member, staff: Person
) -> None:
    made = await cases.opened(api, customer)

    refused = await cases.triaged(api, staff, made["id"], priority="low")
    lowered = await cases.triaged(
        api, staff, made["id"], priority="low", priorityReason="One person is affected."
    )
    secure = await cases.opened(api, customer, category="security", impact="one_person")
    floor = await cases.triaged(
        api,
        staff,
        secure["id"],
        category="security",
        priority="low",
        priorityReason="One person is affected.",
    )

    assert (refused.status_code, refused.json()["rule"]) == (422, "ADM-20")
    assert (lowered.json()["status"], lowered.json()["priority"]) == ("triaged", "low")
    assert lowered.json()["dueAt"] > made["dueAt"]
    assert secure["priority"] == "high"
    assert (floor.status_code, floor.json()["rule"]) == (422, "ADM-20")


async def test_staff_triage_answer_and_resolve_a_case(
    api: httpx2.AsyncClient, host: Host, customer: Member, staff: Person
) -> None:
    made = await cases.opened(api, customer)
    case = f"{PATH}/{made['id']}"

    early = await cases.resolved(api, staff, made["id"])
    triaged = await cases.triaged(api, staff, made["id"], assigneeUserId=str(staff.user_id))
    again = await cases.triaged(api, staff, made["id"], impact="one_person")
    replied = await api.post(
        f"{case}/messages",
        json={"body": "We look into it.", "reason": REASON},
        headers=staff.headers,
    )
    listed = await api.get(f"{case}/messages", headers=customer.acting)
    resolved = await cases.resolved(api, staff, made["id"])
    repeated = await cases.resolved(api, staff, made["id"], "answered")

    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    assert triaged.json()["assigneeUserId"] == str(staff.user_id)
    assert again.json()["version"] == triaged.json()["version"]
    assert (replied.status_code, replied.json()["authorKind"]) == (201, "staff")
    assert listed.json()["items"] == [replied.json()]
    assert resolved.json()["resolution"]["code"] == "fixed"
    assert resolved.json()["sla"]["firstResponse"]["state"] == "met"
    assert repeated.json() == resolved.json()
    told = await events(host, made["id"])
    assert [name for name, _ in told] == [
        *("SupportCaseOpened", "SupportCaseUpdated", "SupportCaseReplied", "SupportCaseResolved"),
    ]
    assert {whose for _, whose in told} == {str(customer.organization_id)}
    on_case, on_message = await acted(host, made["id"]), await acted(host, replied.json()["id"])
    assert [one.action.split(":")[2] for one in on_case] == ["triage", "resolve"]
    assert [one.reason for one in on_message] == [REASON]
    assert {one.subject_organization_id for one in on_case} == {customer.organization_id}


async def test_an_answer_in_time_stays_in_time_when_priority_rises(
    api: httpx2.AsyncClient, host: Host, clock: Time
) -> None:
    clock.set(OPENED_AT)
    customer = await identity.member(host, uuid4(), role="owner")
    made = await cases.opened(api, customer, impact="one_person")
    clock.set(OPENED_AT + timedelta(days=2))
    staff = await cases.agent(host)
    message = {"body": "We look into it.", "reason": REASON}
    await api.post(f"{PATH}/{made['id']}/messages", json=message, headers=staff.headers)

    triaged = await cases.triaged(api, staff, made["id"], priority="urgent")

    sla = triaged.json()["sla"]
    assert (sla["firstResponse"]["state"], sla["resolution"]["state"]) == ("met", "breached")
    assert "SupportCaseBreached" in await names(host, made["id"])


async def test_staff_must_say_why(
    api: httpx2.AsyncClient, host: Host, customer: Member, staff: Person
) -> None:
    made = await cases.opened(api, customer)
    path = f"{PATH}/{made['id']}/messages"

    silent = await api.post(path, json={"body": "We look into it."}, headers=staff.headers)
    mine = await api.post(path, json={"body": "Any news?"}, headers=customer.acting)

    assert (silent.status_code, silent.json()["code"]) == (422, "administration-reason-required")
    assert mine.status_code == 201
    assert await acted(host, mine.json()["id"]) == []


@pytest.mark.rule("ADM-23")
async def test_a_customers_message_reopens_for_thirty_days(
    api: httpx2.AsyncClient, host: Host, clock: Time
) -> None:
    clock.set(OPENED_AT)
    customer, staff = await identity.member(host, uuid4(), role="owner"), await cases.agent(host)
    made = await cases.opened(api, customer)
    await cases.triaged(api, staff, made["id"])
    await cases.resolved(api, staff, made["id"])
    case = f"{PATH}/{made['id']}"

    reopened = await api.post(
        f"{case}/messages", json={"body": "It is back."}, headers=customer.acting
    )
    read = await api.get(case, headers=customer.acting)
    await cases.resolved(api, staff, made["id"])
    clock.set(OPENED_AT + timedelta(days=30, seconds=1))
    customer = await identity.member(host, customer.organization_id, role="owner")
    late = await api.post(f"{case}/messages", json={"body": "Again."}, headers=customer.acting)

    assert reopened.status_code == 201
    assert (read.json()["status"], read.json()["reopenCount"]) == ("triaged", 1)
    assert read.json()["resolution"] is None
    assert (late.status_code, late.json()["code"]) == (409, "administration-case-too-old")
    assert (await names(host, made["id"])).count("SupportCaseReplied") == 1


async def test_a_customer_changes_its_case_only_while_it_is_new(
    api: httpx2.AsyncClient, customer: Member, staff: Person
) -> None:
    made = await cases.opened(api, customer)
    case = f"{PATH}/{made['id']}"
    link = {"domain": "billing", "type": "invoice", "id": str(uuid4())}

    async def patch(headers: dict[str, str], **fields: Any) -> httpx2.Response:
        return await api.patch(case, json=fields, headers=headers)

    changed = await patch(customer.acting, subject="Nobody can sign in", links=[link])
    foreign = await patch(customer.acting, category="billing")
    await cases.triaged(api, staff, made["id"])
    late = await patch(customer.acting, subject="Nobody can sign in at all")
    by_staff = await patch(staff.headers, category="security", reason=REASON)

    assert changed.json()["subject"] == "Nobody can sign in"
    assert changed.json()["links"] == [link]
    assert (foreign.status_code, foreign.json()["code"]) == (403, "forbidden")
    assert (late.status_code, late.json()["code"]) == (409, "invalid-transition")
    assert (by_staff.json()["category"], by_staff.json()["priority"]) == ("security", "high")


async def test_staff_open_a_case_for_a_customer(
    api: httpx2.AsyncClient, host: Host, customer: Member, staff: Person
) -> None:
    await cases.tenant_card(host, customer.organization_id)
    body = {
        "subject": "Called about an invoice",
        "description": "The customer cannot find the invoice of May.",
        "category": "billing",
        "reason": REASON,
    }

    async def post(**more: Any) -> httpx2.Response:
        return await api.post(PATH, json=body | more, headers=staff.headers)

    nobody, unknown = await post(), await post(onBehalfOf=str(uuid4()))
    made = await post(onBehalfOf=str(customer.organization_id))
    read = await api.get(f"{PATH}/{made.json()['id']}", headers=customer.acting)

    assert (nobody.status_code, unknown.status_code) == (422, 404)
    assert made.status_code == 201, made.text
    assert (read.json()["number"], read.json()["channel"]) == ("SC-0001", "phone")
    assert await events(host, made.json()["id"]) == [
        ("SupportCaseOpened", str(customer.organization_id))
    ]


async def test_a_message_cannot_be_changed_in_the_database(host: Host, customer: Member) -> None:
    made = await cases.case(host, customer.user_id, customer.organization_id)
    await cases.message(host, made)
    work = cases.working(host, customer.user_id, customer.organization_id)

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await work.run(f"UPDATE {SupportMessage.__table__.fullname} SET body = 'changed'")
    await work.close()
