"""The clock of a sandbox: a jump of 400 days is 13 renewals, each on its own date."""

import asyncio
from collections.abc import AsyncIterator
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from dateutil.relativedelta import relativedelta
from fastapi import FastAPI

from tests.factories import billing
from tests.factories import identity as people
from tests.planting import plant
from tests.suites import clocks
from tests.suites.sizes import size
from thenga import topology
from thenga.domains.billing import tables
from thenga.domains.billing.services.accounts import sandbox_clock
from thenga.domains.billing.services.ledger import journal
from thenga.domains.billing.services.payments.attempts import PaymentChoice
from thenga.domains.billing.services.subscriptions import purchase
from thenga.domains.billing.tables import (
    Book,
    ClockStatus,
    Interval,
    Subscription,
)
from thenga.domains.identity.public import Decisions
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.jobs.runner import JobSide, Pace
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.standing import timetable
from thenga.kernel.standing.timetable import Step, Timetable
from thenga.kernel.values.calendar import local_day, local_midnight
from thenga.kernel.values.money import Money
from thenga.starting import make_host

pytestmark = pytest.mark.usefixtures("nothing_waits")

DAYS = size(check=70, prove=400)
RENEWALS = {70: 2, 400: 13}[DAYS]


@pytest.fixture
async def worker(settings: Settings, seeded: None) -> AsyncIterator[None]:
    """The mesh and the jobs of all domains with their ports bound, as a worker runs them."""
    made, domains = make_host(settings), topology.load(topology.DOMAINS)
    topology.bind(made, domains, gate=Decisions)
    jobs = JobSide(made, domains, pace=Pace(poll_seconds=0.05))
    async with clocks.running([MeshSide(made, domains), jobs]):
        yield
    await made.close()


async def founded(api: httpx2.AsyncClient, host: Host, mode: str) -> tuple[UUID, dict[str, str]]:
    """An organization over HTTP, when its owner may act and its account is there."""
    founder = await people.person(host)
    profile = {"legalName": "Mokoena Plant Hire", "legalForm": "private_company"}
    body = {"organizationType": "enterprise", "mode": mode, "profile": profile}
    made = await api.post("/organizations", json=body, headers=founder.headers)
    organization_id = UUID(made.json()["id"])
    headers = founder.headers | {"X-Organization-Id": str(organization_id)}

    async def opened() -> bool:
        answer = await api.get("/billing/accounts", headers=headers)
        return answer.status_code == 200 and bool(answer.json()["items"])

    await clocks.until(opened)
    body = {"billTo": {"legalName": "Mokoena Plant Hire (Pty) Ltd"}}
    await api.post("/billing/accounts", json=body, headers=headers)
    return organization_id, headers


async def bought(host: Host, organization_id: UUID) -> None:
    """Starter by the month, paid out of credit, so that no provider is asked."""
    credit = journal.bank_transfer_booking(Money.of("9000.00"))
    await billing.entry(host, organization_id, credit, book=Book.SANDBOX)
    work = billing.working(host, organization_id)
    await purchase.buy_plan(work, plan_code="starter", interval=Interval.MONTH, how=PaymentChoice())
    await work.finish()


async def rows(host: Host, organization_id: UUID, statement: str) -> list[Any]:
    async with host.engines.connection("billing", "billing_system") as connection:
        return list(await connection.fetch(statement, organization_id))


@pytest.mark.prove
@pytest.mark.rule("BIL-50")
async def test_a_jump_makes_each_renewal_on_its_own_date(
    api: httpx2.AsyncClient, host: Host, worker: None
):
    organization_id, headers = await founded(api, host, "sandbox")
    await bought(host, organization_id)
    before = (await api.get("/billing/test-clock", headers=headers)).json()
    to = host.now() + timedelta(days=DAYS)

    asked = await api.post(
        "/billing/test-clock/advance", json={"to": to.isoformat()}, headers=headers
    )

    async def arrived() -> bool:
        shown = (await api.get("/billing/test-clock", headers=headers)).json()
        assert shown["status"] != "stopped", shown
        await asyncio.sleep(0.5)
        return bool(shown["status"] == "ready")

    await clocks.until(arrived, seconds=300)
    after = (await api.get("/billing/test-clock", headers=headers)).json()
    renewed = await rows(
        host,
        organization_id,
        "SELECT period_start, renewed_at FROM billing.renewal "
        "WHERE organization_id = $1 AND renewed_at IS NOT NULL ORDER BY renewed_at",
    )
    issued = await rows(
        host,
        organization_id,
        "SELECT issue_date, number, status FROM billing.invoice "
        "WHERE organization_id = $1 ORDER BY number",
    )
    late = [one["renewed_at"] - local_midnight(one["period_start"]) for one in renewed]
    on_date = sum(local_day(one["renewed_at"]) == one["period_start"] for one in renewed)
    print(
        f"jump_days={DAYS} steps={after['steps']} renewals={len(renewed)} on_date={on_date} "
        f"latest_s={max(late).total_seconds():.1f} invoices={len(issued)}"
    )
    assert (before["status"], before["steps"]) == ("ready", 0)
    assert (asked.status_code, asked.json()["status"]) == (202, "advancing")
    assert len(renewed) == on_date == RENEWALS
    assert [one["period_start"] for one in renewed] == sorted(
        one["period_start"] for one in renewed
    )
    assert len(issued) == RENEWALS + 1
    assert all(one["status"] == "paid" for one in issued)
    assert datetime.fromisoformat(after["now"]) >= to


@pytest.mark.rule("BIL-50")
async def test_only_a_sandbox_has_a_clock_and_it_goes_forward_only(
    api: httpx2.AsyncClient, host: Host, seeded: None
):
    live = await people.member(host, uuid4(), role="owner")
    await billing.account(host, live.organization_id)
    sandbox = await people.member(host, uuid4(), role="owner", sandbox=True)
    await billing.account(host, sandbox.organization_id, book=Book.SANDBOX)

    async def advance(who: people.Member, to: datetime) -> tuple[int, str]:
        headers = who.headers | {"X-Organization-Id": str(who.organization_id)}
        answer = await api.post(
            "/billing/test-clock/advance", json={"to": to.isoformat()}, headers=headers
        )
        return answer.status_code, answer.json()["code"]

    now, day = host.now(), timedelta(days=1)

    assert await advance(live, now + day) == (409, "not-a-sandbox")
    assert await advance(sandbox, now - day) == (422, "billing-clock-backwards")
    assert await advance(sandbox, now + 3000 * day) == (422, "rule-violated")


@pytest.mark.prove
@pytest.mark.rule("BIL-50")
async def test_a_jump_stops_where_something_due_is_never_done(
    app: FastAPI, host: Host, seeded: None
):
    organization_id = uuid4()
    await billing.account(host, organization_id, book=Book.SANDBOX)
    await bought(host, organization_id)
    work = billing.working(host, organization_id)
    due = await work.lock_by(Subscription)
    due.next_check_at = work.now  # its job fails whenever it is tried
    await work.save(due)
    clock = await sandbox_clock.advance(work, to=work.now + timedelta(days=3))
    work._jobs.clear()
    await work.finish()

    turns, waits = 0, []
    while clock.status is ClockStatus.ADVANCING:
        work = billing.working(host, organization_id)
        step = await sandbox_clock.next_step(app.state.shared.host, clock)
        await sandbox_clock.record_step(work, clock.id, step)
        clock = await work.get(tables.TestClock, clock.id)
        waits += [job.after - work.now for job in work._jobs if job.after is not None]
        turns += 1
        work._jobs.clear()  # the test is the worker
        await work.finish()

    print(f"turns={turns} waited_s={sum(waits, timedelta()).total_seconds():.0f} {clock.status}")
    assert step == Step()
    assert (clock.status, clock.steps) == (ClockStatus.STOPPED, 0)
    assert turns < 200
    assert timedelta(minutes=1) < sum(waits, timedelta()) < timedelta(minutes=5)


async def jumped(api: httpx2.AsyncClient, headers: dict[str, str], to: datetime) -> dict[str, Any]:
    """The clock after a jump to an instant."""
    body = {"to": to.isoformat()}
    asked = await api.post("/billing/test-clock/advance", json=body, headers=headers)
    assert asked.status_code == 202, asked.text
    shown: dict[str, Any] = {}

    async def arrived() -> bool:
        shown.update((await api.get("/billing/test-clock", headers=headers)).json())
        assert shown["status"] != "stopped", shown
        await asyncio.sleep(0.2)
        return bool(shown["status"] == "ready")

    await clocks.until(arrived, seconds=300)
    return shown


async def dates_of_three_domains(
    api: httpx2.AsyncClient, host: Host
) -> tuple[dict[str, date], dict[str, date]]:
    """What a jump of 40 days does in each domain: the day it falls on, and the day it was done."""
    organization_id, headers = await founded(api, host, "sandbox")
    await bought(host, organization_id)
    today = local_day(host.now())
    # Told 60 days before its end, so on the twentieth day of the jump.
    paper = {"kind": "calibration", "expiresOn": str(today + timedelta(days=80))}
    machine = {"name": "Digger", "quantity": 1, "expiries": [paper]}
    path = f"/organizations/{organization_id}/equipment"
    assert (await api.post(path, json=machine, headers=headers)).status_code == 201
    valid = timedelta(days=10)
    await people.member(host, organization_id, role="viewer", valid_for=valid)

    await jumped(api, headers, host.now() + timedelta(days=40))
    done: dict[str, date] = {}
    for envelope in await clocks._envelopes(host, organization_id):
        kind, data = envelope["type"], envelope["data"]
        if (
            kind == "organization.ExpiryApproaching.v1"
            or (kind == "identity.RoleAssignmentChanged.v1" and data["status"] == "expired")
            or (kind == "billing.SubscriptionChanged.v1" and data["change"] == "renewed")
        ):
            done[kind.split(".")[0]] = local_day(datetime.fromisoformat(envelope["time"]))
    due = {
        "identity": today + timedelta(days=10),
        "organization": today + timedelta(days=20),
        "billing": today + relativedelta(months=1),
    }
    return due, done


@pytest.mark.rule("BIL-50")
async def test_a_jump_stops_at_the_dates_of_every_domain(
    api: httpx2.AsyncClient, host: Host, worker: None
):
    due, done = await dates_of_three_domains(api, host)

    print("jump_days=40 " + " ".join(f"{name}={day}" for name, day in sorted(done.items())))
    assert done == due


async def test_planted_advance_by_billing_dates_only_is_found(
    api: httpx2.AsyncClient, host: Host, worker: None, monkeypatch: pytest.MonkeyPatch
):
    every = timetable.next_step

    async def of_billing(timetables: list[Timetable], *args: Any, **named: Any) -> Step:
        own = [one for one in timetables if isinstance(one, timetable.timetable_of("billing"))]
        return await every(own, *args, **named)

    plant(monkeypatch, timetable, "next_step", of_billing)
    due, done = await dates_of_three_domains(api, host)

    assert done["billing"] == due["billing"]
    assert done != due


@pytest.mark.prove
async def test_a_planted_jump_that_stops_nowhere_is_found(
    api: httpx2.AsyncClient, host: Host, worker: None, monkeypatch: pytest.MonkeyPatch
):
    every = timetable.next_step

    async def sees_nothing(timetables: list[Timetable], *args: Any, **named: Any) -> Step:
        step = await every(timetables, *args, **named)
        return Step(move_to=named["target"]) if step.move_to else step

    plant(monkeypatch, timetable, "next_step", sees_nothing)
    organization_id, headers = await founded(api, host, "sandbox")
    await bought(host, organization_id)
    to = host.now() + timedelta(days=70)
    await api.post("/billing/test-clock/advance", json={"to": to.isoformat()}, headers=headers)

    async def renewed() -> bool:
        found = await rows(
            host,
            organization_id,
            "SELECT 1 FROM billing.renewal WHERE organization_id = $1 AND renewed_at IS NOT NULL",
        )
        return len(found) == 2

    await clocks.until(renewed)
    found = await rows(
        host,
        organization_id,
        "SELECT period_start, renewed_at FROM billing.renewal "
        "WHERE organization_id = $1 AND renewed_at IS NOT NULL",
    )
    assert all(local_day(one["renewed_at"]) != one["period_start"] for one in found)
