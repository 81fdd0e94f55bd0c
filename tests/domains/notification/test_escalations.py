"""Escalations: steps in working hours, one for each matter, resolved once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
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

from thenga.domains.administration import public as administration
from thenga.domains.billing import public as billing
from thenga.domains.notification.provider import LocalEscalations
from thenga.domains.notification.reactions import settled
from thenga.domains.notification.services import escalations as room
from thenga.domains.notification.services.escalations import escalations
from thenga.domains.notification.services.requests import FactsMismatch
from thenga.domains.notification.tables import Escalation, Notification, Request
from thenga.kernel.access.actors import OPERATOR
from thenga.kernel.db.work import Work
from thenga.kernel.errors import StaleVersion
from thenga.kernel.process.host import Host
from thenga.kernel.values.money import Money
from thenga.kernel.values.references import Reference

PATH = "/notifications/escalations"
TUESDAY = datetime(2026, 12, 15, 13, 30, tzinfo=UTC)  # 15:30 in South Africa
THURSDAY = datetime(2026, 12, 17, 8, 30, tzinfo=UTC)  # 10:30; 16 December is a holiday


@pytest.fixture
async def office(app: FastAPI, host: Host, seeded: None) -> AsyncIterator[Office]:
    """A sandbox: its messages are captured and not sent."""
    made = requests.with_ports(host)
    time = Time(app.state.shared.host, host, made)
    time.set(TUESDAY)
    organization_id = uuid4()
    await deliveries.tenant(host, organization_id, sandbox=True)
    yield Office(made, time, organization_id)
    time.restore()


@pytest.fixture
async def owner(host: Host, office: Office) -> people.Member:
    return await people.member(host, office.organization_id, role="owner")


@pytest.fixture
async def finance(host: Host, office: Office) -> people.Member:
    return await people.member(host, office.organization_id, role="finance_manager")


async def opened(office: Office, about: Reference | None = None, **given: Any) -> Any:
    fields: dict[str, Any] = {
        "key": str(uuid4()),
        "organization_id": office.organization_id,
        "policy_key": "billing.payment",
        "facts": factory.PAYMENT_FACTS,
    }
    about = about or factory.reference("paymentFailure", "billing")
    return await LocalEscalations(office.host).open(about=about, **fields | given)


async def told(office: Office) -> list[UUID | None]:
    """Who got a message, in the order of the messages."""
    found = await office.all(select(Notification).order_by(Notification.created_at))
    return [one.user_id for one in found]


@pytest.mark.rule("NOT-41")
async def test_the_next_step_follows_after_four_working_hours(
    api: httpx2.AsyncClient, owner: people.Member, finance: people.Member, office: Office
) -> None:
    ref = await opened(office)
    await office.timeline().settle()
    first = await told(office)
    shown = (await api.get(f"{PATH}/{ref.id}", headers=finance.acting)).json()
    await office.timeline().until(THURSDAY - timedelta(minutes=1))
    early = len(await told(office))
    await office.timeline().until(THURSDAY)

    names = [one["userId"] for one in shown["nextPeople"]]
    named = names == [str(owner.user_id)] and bool(shown["nextPeople"][0]["name"])
    print(f"opened=Tue 15:30 next={ref.next_step_at.isoformat()} told_before={early} named={named}")
    assert (ref.status, ref.next_step_at) == ("open", THURSDAY)
    assert (shown["level"], shown["nextStepAt"]) == (1, "2026-12-17T08:30:00Z")
    assert named
    assert (first, early) == ([finance.user_id], 1)
    assert await told(office) == [finance.user_id, owner.user_id]
    levels = [one["level"] for one in await office.events("EscalationRaised")]
    assert levels == [1, 2]


@pytest.mark.rule("NOT-41")
async def test_everybody_is_told_until_the_policy_is_exhausted(
    owner: people.Member, finance: people.Member, office: Office
) -> None:
    ref = await opened(office)

    await office.timeline().until(TUESDAY + timedelta(days=30))
    await office.timeline().settle()

    escalation = await office.get(Escalation, ref.id)
    assert (escalation.status, escalation.level) == ("exhausted", 4)
    assert await told(office) == [finance.user_id, owner.user_id] * 2
    assert escalation.next_check_at is None


async def test_one_matter_has_one_unresolved_escalation(
    owner: people.Member, finance: people.Member, office: Office
) -> None:
    about = factory.reference("paymentFailure", "billing")

    found = await asyncio.gather(*(opened(office, about, key=f"key {n % 5}") for n in range(20)))
    await office.timeline().settle()
    ids = {one.id for one in found}
    for number in range(2):
        await LocalEscalations(office.host).resolve(
            key=f"key {number}", organization_id=office.organization_id, code="done"
        )
    again = await opened(office, about, key="key 4")
    new = await opened(office, about, key="key 9")

    raised = len(await office.events("EscalationRaised"))
    print(f"parallel=20 keys=5 answers={len(found)} escalations={len(ids)}")
    assert len(ids) == 1
    assert len(await told(office)) == 1
    assert (again.id in ids, again.status) == (True, "resolved")
    assert new.id not in ids
    assert (raised, len(await office.events("EscalationResolved"))) == (2, 1)


async def test_facts_that_do_not_fit_open_nothing(office: Office) -> None:
    with pytest.raises(FactsMismatch):
        await opened(office, facts={"amount": "much"})

    assert await office.all(select(Escalation)) == []


@pytest.mark.rule("NOT-41")
async def test_an_event_resolves_what_it_settles(
    owner: people.Member, finance: people.Member, office: Office
) -> None:
    about = factory.reference("paymentFailure", "billing")
    ref = await opened(office, about)
    other = await opened(office)
    event = billing.PaymentRecovered(
        organization_id=office.organization_id,
        payment_id=None,
        failure_id=about.id,
        invoice_id=uuid4(),
        subscription_id=uuid4(),
        amount=Money.of("499.00", "ZAR"),
    )

    for _ in range(2):
        work = requests.working(office.host, office.organization_id)
        await settled.resolve_open_payment(work, event)
        await work.finish()
    await office.timeline().until(THURSDAY)

    escalation = await office.get(Escalation, ref.id)
    assert (escalation.status, escalation.resolution_code) == ("resolved", "automatic")
    assert (await office.get(Escalation, other.id)).level == 2
    (resolved,) = await office.events("EscalationResolved")
    assert (resolved["escalationId"], resolved["resolvedBy"]) == (str(ref.id), None)


async def test_staff_see_and_resolve_escalations_of_the_platform(
    api: httpx2.AsyncClient, host: Host, owner: people.Member, office: Office
) -> None:
    staff = await people.staff(host, "platform_operator")
    about = factory.reference("supportCase", "administration")
    given = {"policy_key": "support.breach", "facts": factory.BREACH_FACTS}
    ref = await opened(office, about, **given)
    path = f"{PATH}/{ref.id}"

    listed = await api.get(f"{PATH}?aboutId={about.id}", headers=staff.headers)
    tenant = await api.get(path, headers=owner.acting)
    answer = await api.post(f"{path}/resolve", json={"code": "done"}, headers=staff.headers)

    assert [one["id"] for one in listed.json()["items"]] == [str(ref.id)]
    assert listed.json()["items"][0]["organizationId"] == str(OPERATOR)
    assert tenant.status_code == 404
    assert answer.status_code == 200, answer.text
    assert answer.json()["resolution"]["resolvedBy"] == str(staff.user_id)


async def test_a_resolved_support_case_resolves_its_escalation(
    owner: people.Member, office: Office
) -> None:
    about = factory.reference("supportCase", "administration")
    given = {"policy_key": "support.breach", "facts": factory.BREACH_FACTS}
    ref = await opened(office, about, **given)
    event = administration.SupportCaseResolved(
        organization_id=office.organization_id,
        case_id=about.id,
        number="CASE-000042",
        priority="high",
        code="solved",
        requester_user_id=owner.user_id,
        assignee_user_id=None,
    )
    work = requests.working(office.host, office.organization_id)

    await settled.resolve_support_breach(work, event)
    await work.finish()

    assert (await office.get(Escalation, ref.id, OPERATOR)).status == "resolved"


async def test_escalations_are_listed_and_resolved(
    api: httpx2.AsyncClient,
    host: Host,
    owner: people.Member,
    finance: people.Member,
    office: Office,
) -> None:
    viewer = await people.member(host, office.organization_id, role="viewer")
    stranger = await people.member(host, uuid4(), role="owner")
    ref = await opened(office)
    await office.timeline().settle()
    path = f"{PATH}/{ref.id}"
    body = {"code": "done", "note": "Paid by transfer."}

    mine = await api.get(f"{PATH}?mine=true&sort=nextStepAt", headers=finance.acting)
    others = await api.get(f"{PATH}?mine=true&level=1", headers=owner.acting)
    refused = await api.post(f"{path}/resolve", json=body, headers=viewer.acting)
    elsewhere = await api.post(f"{path}/resolve", json=body, headers=stranger.acting)
    missing = await api.post(f"{PATH}/{uuid4()}/resolve", json=body, headers=stranger.acting)
    first = await api.post(f"{path}/resolve", json=body, headers=finance.acting)
    again = await api.post(
        f"{path}/resolve", json=body | {"code": "duplicate"}, headers=owner.acting
    )

    assert [one["id"] for one in mine.json()["items"]] == [str(ref.id)]
    assert others.json()["items"] == []
    assert (refused.status_code, elsewhere.status_code, missing.status_code) == (403, 404, 404)
    assert elsewhere.json()["title"] == missing.json()["title"]
    assert first.status_code == 200, first.text
    assert first.json()["resolution"]["code"] == again.json()["resolution"]["code"] == "done"
    assert [one["kind"] for one in again.json()["log"]] == ["opened", "step", "resolved"]
    assert len(await office.events("EscalationResolved")) == 1


async def race(office: Office, times: int) -> Counter[str]:
    """Step and resolve the same escalation at once; what each race ended with."""
    ended: Counter[str] = Counter()
    for _ in range(times):
        made = await factory.escalation(office.host, office.organization_id, due_at=TUESDAY)
        stepping = requests.working(office.host, office.organization_id)
        resolving = requests.working(office.host, office.organization_id)
        await asyncio.gather(_step(stepping, made.id), _resolve(resolving, made.id))
        ended[_ending(await office.get(Escalation, made.id))] += 1
    return ended


async def _step(work: Work, escalation_id: UUID) -> None:
    try:
        await room.step_escalation(work, escalation_id)
        await work.finish()
    except StaleVersion:
        await work.close()


async def _resolve(work: Work, escalation_id: UUID) -> None:
    await escalations.resolve_escalation(work, escalation_id, code="done", note=None)
    await work.finish()


def _ending(escalation: Escalation) -> str:
    """Whether anything happened after the resolution, or was told without being noted."""
    kinds = [one["kind"] for one in escalation.log]
    if escalation.status != "resolved" or kinds[-1] != "resolved":
        return "both"
    return "stepped first" if kinds == ["opened", "step", "resolved"] else "resolved first"


@pytest.mark.rule("NOT-41")
async def test_a_step_never_follows_a_resolution(owner: people.Member, office: Office) -> None:
    ended = await race(office, 40)

    sent = await office.all(select(Request))
    print(f"races=40 both={ended['both']} {dict(ended)}")
    assert ended["both"] == 0
    assert len(sent) == ended["stepped first"]


async def until_resolved(office: Office, escalation_id: UUID) -> None:
    async with asyncio.timeout(60):
        while (await office.get(Escalation, escalation_id)).status != "resolved":
            await asyncio.sleep(0.05)


async def test_planted_step_without_a_lock_is_found(
    owner: people.Member, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unlocked(work: Work, escalation_id: UUID) -> None:
        escalation = await work.get(Escalation, escalation_id)
        await until_resolved(office, escalation_id)
        entry = {"kind": "step", "at": work.now.isoformat(), "level": 2}
        changed = await work.query(
            "UPDATE notification.escalation SET level = 2, status = 'open', log = $2::jsonb "
            "WHERE id = $1 RETURNING id",
            escalation_id,
            [*escalation.log, entry],
        )
        assert changed

    plant(monkeypatch, escalations, "step_escalation", unlocked)

    assert (await race(office, 3))["both"] > 0
