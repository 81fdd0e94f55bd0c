"""A sandbox's clock moved 400 days: what time does happens once, in order, in every domain."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx2
import pytest
import sqlalchemy as sa

from tests.factories import documents
from tests.planting import plant
from tests.suites import books, clocks, subscribed
from thenga import topology
from thenga.domains.billing.adapters.sandbox_server import SandboxServer
from thenga.domains.billing.services.dunning import collection
from thenga.domains.billing.tables import Book
from thenga.domains.organization import public
from thenga.domains.organization.services.assets import equipment
from thenga.domains.organization.tables import Equipment
from thenga.kernel.db.work import Work
from thenga.kernel.events.worker import MeshSide
from thenga.kernel.jobs import due
from thenga.kernel.jobs.runner import JobSide
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

pytestmark = pytest.mark.usefixtures("nothing_waits")

DAYS, SOME_DAYS = 400, 40
# Many sweeps a second would leave little room for what they find: the periods of a year.
CALM = timedelta(milliseconds=600)


@pytest.fixture
async def provider(host: Host, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SandboxServer]:
    async with subscribed.provider(host) as (server, url):
        monkeypatch.setenv("THENGA_SANDBOX_URL_BILLING", url)
        yield server


async def _move(api: httpx2.AsyncClient, place: clocks.Place, days: int) -> None:
    response = await api.post(
        f"/organizations/{place.id}/clock",
        json={"forwardDays": days},
        headers=place.owner.headers,
    )
    assert response.status_code == 200


async def _followed(host: Host, place: clocks.Place) -> None:
    """Until every domain knows how late it is there."""
    moved = timedelta(days=DAYS)

    async def all_know() -> bool:
        known = [await clocks.ahead_in(host, domain, place.id) for domain in topology.DOMAINS]
        return known == [moved] * len(known)

    await clocks.until(all_know)


async def _gate(api: httpx2.AsyncClient, place: clocks.Place) -> dict[int, int]:
    """What members are answered now, by the days for which their role was given."""
    path = f"/organizations/{place.id}/equipment"
    return {
        days: (await api.get(path, headers=member.headers)).status_code
        for days, member in place.members.values()
    }


async def _certificates(api: httpx2.AsyncClient, place: clocks.Place) -> dict[int, list[str]]:
    """The states that machines show, by the first day on which one of theirs runs out."""
    path = f"/organizations/{place.id}/equipment"
    shown = (await api.get(path, headers=place.owner.headers)).json()["items"]
    return {
        (place.machines[item["id"]] or (0,))[0]: [
            *(one["state"] for one in item["expiries"]),
            str(item["nextExpiry"]),
        ]
        for item in shown
    }


async def _sandbox_with_a_plan(
    api: httpx2.AsyncClient, host: Host, provider: SandboxServer
) -> clocks.Place:
    """With machines, members and a plan that is paid; the jobs run only while it is bought."""
    sandbox = await clocks.furnish(api, host, "sandbox")
    async with clocks.running([JobSide(host, clocks.quick("find_to_poll_payment"))]):
        return await subscribed.buy(api, host, sandbox, provider)


@pytest.mark.rule("BIL-14")
@pytest.mark.rule("BIL-48")
async def test_due_steps_run_once_and_in_order_in_every_domain(
    api: httpx2.AsyncClient, host: Host, seeded: None, provider: SandboxServer
) -> None:
    domains = clocks.in_proportion(CALM)
    async with clocks.running([MeshSide(host, domains)]):
        sandbox = await _sandbox_with_a_plan(api, host, provider)
        live = await clocks.furnish(api, host, "live")
        assert await _gate(api, sandbox) == {100: 200, 399: 200, 500: 200}

        await _move(api, sandbox, DAYS)
        await _followed(host, sandbox)

        # What is read is right before any sweep has run: the rows still say what they said.
        assert await _gate(api, sandbox) == {100: 403, 399: 403, 500: 200}
        statuses = [await clocks.written_status(host, each) for each in sandbox.members]
        assert statuses == ["active"] * 3
        seen = await _certificates(api, sandbox)
        assert seen[399] == ["expired", "expired", "expired", "None"]
        assert seen[425] == ["expiring", str(sandbox.today + timedelta(425))]
        assert seen[500] == ["valid", str(sandbox.today + timedelta(500))]

        wanted = clocks.expected(sandbox, DAYS)
        async with clocks.running([JobSide(host, domains)]):
            told = await clocks.settle(host, sandbox, wanted, seconds=600)
            beside = await clocks.told(host, live, clocks.expected(live, 0))
            periods = 1 + len(clocks.renewals(sandbox.today, DAYS))
            paid = await subscribed.all_paid(host, sandbox, provider, periods, seconds=600)

        balance = await subscribed.balance(host, sandbox)
        print(
            f"clock moved_days={DAYS} effects={told.effects} doubled={told.doubled} "
            f"missing={told.missing} out_of_order={told.out_of_order} live={beside.effects} "
            f"periods={periods} paid={paid} {balance}"
        )
        assert (paid, balance) == (periods, books.Balance(0, 0))
        await _each_once(host, sandbox, provider)
        assert told == clocks.Told(wanted.total(), doubled=0, missing=0, out_of_order=0)
        assert beside == clocks.Told(0, 0, 0, 0)
        assert await _gate(api, live) == {100: 200, 399: 200, 500: 200}
        statuses = [await clocks.written_status(host, each) for each in sandbox.members]
        assert statuses == ["expired", "expired", "active"]
        # People live by the base clock: nobody was signed out by a sandbox (IDN-51).
        signed_in = await api.get("/identity/sessions", headers=sandbox.owner.headers)
        assert [one["status"] for one in signed_in.json()["items"]] == ["active"]


async def _each_once(host: Host, place: clocks.Place, provider: SandboxServer) -> None:
    """Every period was charged, booked and allocated once, and the numbers have no gap."""
    invoices = await subscribed.sold(host, place, provider)
    for one in invoices.values():
        assert (one.status, one.charged, one.booked, one.allocations) == ("paid", 1, 1, 1)
    assert books.missing_numbers(invoices) == 0


async def _with_bug(api: httpx2.AsyncClient, host: Host, *, seconds: float) -> clocks.Told:
    domains = clocks.quick("find_to_tell_expiry", "find_to_end_assignment")
    async with clocks.running([MeshSide(host, domains), JobSide(host, domains)]):
        sandbox = await clocks.furnish(api, host, "sandbox")
        await _move(api, sandbox, DAYS)
        await _followed(host, sandbox)
        return await clocks.settle(host, sandbox, clocks.expected(sandbox, DAYS), seconds=seconds)


@pytest.mark.prove
async def test_a_planted_sweep_that_forgets_the_sandbox_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_base_clock(table: sa.Table, now: datetime, limit: int) -> Any:
        columns = (table.c.organization_id, table.c.id)
        return sa.select(*columns).where(table.c.next_check_at <= sa.literal(now)).limit(limit)

    monkeypatch.setattr(due, "_statement", by_base_clock)

    told = await _with_bug(api, host, seconds=2)

    assert told.missing > 0


@pytest.mark.prove
async def test_a_planted_job_that_plans_no_next_step_is_found(
    api: httpx2.AsyncClient, host: Host, seeded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tell_again(work: Work, equipment_id: UUID) -> None:
        item = await work.lock(Equipment, equipment_id)
        (one, *_) = item.expiries
        await work.touch(item)
        work.publish(
            public.ExpiryApproaching(
                organization_id=item.organization_id,
                record_type="equipment",
                record_id=item.id,
                kind=one["kind"],
                on=one["expires_on"],  # type: ignore[arg-type]  # pydantic reads it
                days_left=60,
                due_at=item.next_check_at or work.now,
                time_zone="Africa/Johannesburg",
            )
        )

    plant(monkeypatch, equipment, "publish_equipment_expiry", tell_again)

    told = await _with_bug(api, host, seconds=60)

    assert told.doubled > 0


@pytest.mark.prove
async def test_a_planted_renewal_that_takes_no_money_is_found(
    api: httpx2.AsyncClient,
    host: Host,
    seeded: None,
    provider: SandboxServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def forgets(*_: Any) -> None:
        return None

    plant(monkeypatch, collection, "collect_automatically", forgets)
    domains = clocks.in_proportion(CALM)
    async with clocks.running([MeshSide(host, domains), JobSide(host, domains)]):
        furnished = await clocks.furnish(api, host, "sandbox")
        sandbox = await subscribed.buy(api, host, furnished, provider)
        await _move(api, sandbox, SOME_DAYS)
        wanted = clocks.expected(sandbox, SOME_DAYS)
        told = await clocks.settle(host, sandbox, wanted, seconds=60)
        paid = await subscribed.all_paid(host, sandbox, provider, 2, seconds=1)

    assert (told.missing, paid) == (0, 1)


@pytest.mark.prove
async def test_a_planted_cent_behind_the_triggers_is_found(
    host: Host, settings: Settings, seeded: None
) -> None:
    place = uuid4()
    await documents.issued(host, place, paid=True, book=Book.SANDBOX)
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    try:
        before = await books.balance(admin, place)
        await admin.execute("BEGIN; SET LOCAL session_replication_role = replica")
        await admin.execute(
            "UPDATE billing.journal_line SET amount_minor = amount_minor + 1 WHERE id = "
            "(SELECT id FROM billing.journal_line WHERE organization_id = $1 LIMIT 1)",
            place,
        )
        planted = await books.balance(admin, place)
    finally:
        await admin.close()  # and nothing of it stays

    print(f"planted, a cent: {planted}")
    assert (before, planted) == (books.Balance(0, 0), books.Balance(1, 1))
