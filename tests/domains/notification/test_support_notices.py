"""Support cases: staff of the queue are told once, the customer of answers, nobody else."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select
from tests.conftest import Time
from tests.factories import identity as people
from tests.factories import notification_deliveries as deliveries
from tests.factories import notification_requests as requests
from tests.factories import support as cases
from tests.factories.identity import Member, Person
from tests.factories.notification_requests import Office
from tests.planting import plant
from tests.providers.messaging import MailServer
from tests.timeline import Timeline

from thenga import topology
from thenga.domains.administration.services.support import clock as case_clock
from thenga.domains.identity.provider import LocalMembers
from thenga.domains.notification.reactions import administration, reactions
from thenga.domains.notification.tables import Escalation, Notification
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.declare.event import Envelope
from thenga.kernel.events.delivery import Taking
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id

MONDAY = datetime(2026, 11, 16, 8, tzinfo=UTC)  # 10:00 in South Africa
FIRST_RESPONSE = MONDAY + timedelta(hours=1)  # of an urgent case
URGENT = {"impact": "many_organizations", "urgency": "high"}
OPENED, BREACHED = "administration.support_case_opened", "administration.support_case_breached"
REPLIED = "administration.support_case_replied"
RESOLVED = "administration.support_case_resolved"


@dataclass
class Desk:
    """A customer and the staff of the platform, as Notification's worker sees them."""

    api: httpx2.AsyncClient
    office: Office
    relay: MailServer
    customer: Member
    bystanders: Sequence[Member]  # another member of the customer, and the owner of another tenant
    staff: Sequence[Person]
    auditor: Person

    async def hear(self, case_id: str, *, again: bool = False) -> None:
        """React to the events of a case, twice each; `again` as if they were published anew."""
        async with self.office.host.engines.connection(
            "administration", "administration_system"
        ) as connection:
            rows = await connection.fetch(
                "SELECT envelope FROM administration.outbox "
                "WHERE aggregate LIKE '%' || $1 ORDER BY position",
                case_id,
            )
        for row in rows:
            found = Envelope.model_validate_json(row["envelope"])
            for envelope in (found, found, *([renamed(found)] if again else [])):
                await self._take(envelope, row["envelope"])

    async def _take(self, envelope: Envelope, text: str) -> None:
        taking, slots, stop = (
            *(Taking(self.office.host, "notification"), asyncio.Semaphore(1), asyncio.Event()),
        )
        for one in reactions.all:
            if one.event_type == envelope.type:
                await taking.settle(one, envelope, text, slots, stop)

    async def send(self, organization_id: UUID = OPERATOR) -> None:
        domains = topology.load(["notification"])
        timeline = Timeline(
            *(self.office.host, self.office.clock, domains, organization_id),
            undone=("meter_attempt",),
        )
        await timeline.settle()

    async def inbox(self, headers: dict[str, str], case_id: str, topic_code: str) -> int:
        """How many messages of a topic somebody has about a case."""
        path = f"/notifications?aboutId={case_id}&topicCode={topic_code}"
        answer = await self.api.get(path, headers=headers)
        assert answer.status_code == 200, answer.text
        return len(answer.json()["items"])

    async def told(self, case_id: str, topic_code: str) -> Counter[UUID | None]:
        """Who has messages of a topic about a case, as the platform stores them."""
        statement = select(Notification).where(
            Notification.topic_code == topic_code,
            Notification.about["id"].as_string() == case_id,
        )
        return Counter(one.user_id for one in await self.office.all(statement, OPERATOR))

    def mails(self, whom: Iterable[Any]) -> list[int]:
        """How many mails each of these people got."""
        return [self.relay.recipients.count(f"{one.user_id}@example.test") for one in whom]


def renamed(envelope: Envelope) -> Envelope:
    return envelope.model_copy(update={"id": new_id()})


@pytest.fixture
async def alone(settings: Settings, seeded: None) -> AsyncIterator[None]:
    """Staff of other tests hold no role meanwhile: they would all be told."""
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    await admin.execute("SET session_replication_role = replica")
    ended = "UPDATE identity.platform_role_assignment SET status = 'revoked' WHERE status = $1"
    found = {
        status: [one["id"] for one in await admin.fetch(f"{ended} RETURNING id", status)]
        for status in ("active", "scheduled")
    }
    yield
    restored = "UPDATE identity.platform_role_assignment SET status = $1 WHERE id = ANY ($2)"
    for status, ids in found.items():
        await admin.execute(restored, status, ids)
    await admin.close()


@pytest.fixture
async def desk(
    api: httpx2.AsyncClient, app: FastAPI, host: Host, alone: None, relay: MailServer
) -> AsyncIterator[Desk]:
    worker = requests.with_ports(host)
    time = Time(app.state.shared.host, host, worker)
    time.set(MONDAY)
    office = Office(worker, time)
    await deliveries.tenant(host, office.organization_id)
    customer = await people.member(host, office.organization_id, role="viewer")
    bystanders = [
        await people.member(host, office.organization_id, role="owner"),
        await people.member(host, uuid4(), role="owner"),
    ]
    staff = [await people.staff(host, role) for role in ("platform_support", "platform_operator")]
    staff.append(await people.staff(host, "platform_support", "platform_operator"))
    auditor = await people.staff(host, "platform_auditor")
    yield Desk(api, office, relay, customer, bystanders, staff, auditor)
    time.restore()


async def opened_and_breached(desk: Desk) -> dict[str, int]:
    """What staff and others got of a case that was opened and not answered in time."""
    made = await cases.opened(desk.api, desk.customer, **URGENT)
    await desk.hear(made["id"], again=True)
    await desk.send()
    inboxes = [await desk.inbox(one.headers, made["id"], OPENED) for one in desk.staff]
    mailed = desk.mails(desk.staff)
    desk.office.clock.set(FIRST_RESPONSE)
    for _ in range(2):  # a job that runs once more
        work = cases.working(desk.office.host, desk.customer.user_id, desk.office.organization_id)
        await case_clock.tell_breach(work, UUID(made["id"]))
        await work.finish()
    await desk.hear(made["id"], again=True)
    await desk.send()
    breach = await desk.told(made["id"], BREACHED)
    first = await desk.told(made["id"], OPENED)
    others = [desk.customer, *desk.bystanders, desk.auditor]
    return {
        "cases": 1,
        "staff_told": sum(first[one.user_id] > 0 for one in desk.staff),
        "in_app": sum(inboxes),
        "mailed": sum(mailed),
        "twice": sum(n > 1 for n in [*first.values(), *inboxes, *mailed]),
        "breach_told": max(breach[one.user_id] for one in desk.staff),
        "breach_missed": sum(breach[one.user_id] == 0 for one in desk.staff),
        "others_told": sum(first[one.user_id] for one in others) + sum(desk.mails(others)),
    }


RIGHT = {
    "cases": 1,
    "staff_told": 3,
    "in_app": 3,
    "mailed": 3,
    "twice": 0,
    "breach_told": 1,
    "breach_missed": 0,
    "others_told": 0,
}


@pytest.mark.rule("NOT-4")
@pytest.mark.rule("ADM-23")
async def test_staff_are_told_once_of_a_case_and_of_its_breach(desk: Desk) -> None:
    found = await opened_and_breached(desk)

    print(" ".join(f"{name}={count}" for name, count in found.items()))
    assert found == RIGHT
    escalations = await desk.office.all(select(Escalation), OPERATOR)
    assert [one.policy_key for one in escalations].count("support.breach") >= 1


async def test_a_planted_key_of_each_event_tells_twice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = administration._asked
    plant(
        monkeypatch,
        administration,
        "_asked",
        lambda topic, case_id, facts, key: right(topic, case_id, facts, str(uuid4())),
    )

    assert (await opened_and_breached(desk))["twice"] > 0


async def test_a_planted_audience_of_members_is_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def members(port: LocalMembers, **asked: Any) -> list[UUID]:
        return await port.holding(
            organization_id=desk.office.organization_id,
            permission="administration:support_case:read",
            after=asked["after"],
        )

    monkeypatch.setattr(LocalMembers, "staff_holding", members)

    found = await opened_and_breached(desk)
    assert (found["staff_told"], found["others_told"] > 0) == (0, True)


@pytest.mark.rule("NOT-4")
async def test_the_customer_is_told_of_replies_and_of_the_resolution(desk: Desk) -> None:
    agent, here = desk.staff[0], desk.office.organization_id
    made = await cases.opened(desk.api, desk.customer)
    path = f"{cases.PATH}/{made['id']}"
    body = {"body": "Please try once more.", "reason": cases.REASON}
    written = await desk.api.post(f"{path}/messages", json=body, headers=agent.headers)
    await cases.triaged(desk.api, agent, made["id"])
    solved = await cases.resolved(desk.api, agent, made["id"])
    await desk.hear(made["id"])
    await desk.send(here)

    mine = [await desk.inbox(desk.customer.acting, made["id"], t) for t in (REPLIED, RESOLVED)]
    colleague = [
        await desk.inbox(desk.bystanders[0].acting, made["id"], t) for t in (REPLIED, RESOLVED)
    ]
    mails = desk.mails([desk.customer, *desk.bystanders])
    print(f"customer_told={mine} mailed={mails} colleague_told={colleague}")
    assert (written.status_code, solved.status_code) == (201, 200)
    assert (mine, colleague) == ([1, 1], [0, 0])
    assert mails == [2, 0, 0]
    assert set(await desk.told(made["id"], REPLIED)) == set()


@pytest.mark.rule("NOT-4")
async def test_a_reply_is_told_to_staff_only(
    desk: Desk,
) -> None:
    agent, stranger = desk.staff[0], desk.bystanders[1]
    told = []
    for assignee in (None, desk.staff[2].user_id, stranger.user_id):
        made = await cases.opened(desk.api, desk.customer)
        if assignee is not None:
            given = {"assigneeUserId": str(assignee)}
            answer = await cases.triaged(desk.api, agent, made["id"], **given)
            assert answer.status_code == 200, answer.text
        path = f"{cases.PATH}/{made['id']}/messages"
        await desk.api.post(path, json={"body": "Any news?"}, headers=desk.customer.acting)
        await desk.hear(made["id"])
        await desk.send()
        told.append(await desk.told(made["id"], REPLIED))

    everybody = {one.user_id: 1 for one in desk.staff}
    print(f"unassigned={len(told[0])} assignee={len(told[1])} assignee_of_a_tenant={len(told[2])}")
    assert [dict(one) for one in told] == [everybody, {desk.staff[2].user_id: 1}, {}]


async def test_a_sandbox_tells_staff_in_the_app_only_and_alarms_nobody(
    desk: Desk, host: Host
) -> None:
    organization_id = uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)
    guest = await people.member(host, organization_id, role="owner", sandbox=True)
    made = await cases.opened(desk.api, guest, **URGENT)
    desk.office.clock.set(FIRST_RESPONSE)
    work = cases.working(desk.office.host, guest.user_id, organization_id)
    await case_clock.tell_breach(work, UUID(made["id"]))
    await work.finish()

    await desk.hear(made["id"])
    await desk.send()

    assert len(await desk.told(made["id"], OPENED)) == 3
    assert await desk.told(made["id"], BREACHED) == {}
    assert desk.relay.recipients == []


async def test_staff_mark_their_own_message_as_read(desk: Desk) -> None:
    made = await cases.opened(desk.api, desk.customer)
    await desk.hear(made["id"])
    await desk.send()
    first, second = desk.staff[:2]
    path = f"/notifications?aboutId={made['id']}"
    (mine,) = (await desk.api.get(path, headers=first.headers)).json()["items"]

    read = await desk.api.post(f"/notifications/{mine['id']}/read", headers=first.headers)
    others = await desk.api.post(f"/notifications/{mine['id']}/read", headers=second.headers)
    tenant = await desk.api.get(f"/notifications/{mine['id']}", headers=desk.customer.acting)
    auditor = await desk.api.get(path, headers=desk.auditor.headers)

    assert (read.status_code, read.json()["organizationId"]) == (200, str(OPERATOR))
    assert read.json()["readAt"] is not None
    assert (others.status_code, others.json()["code"]) == (403, "notification-not-recipient")
    assert (tenant.status_code, auditor.status_code) == (404, 404)
