"""Old usage: 13 months of records, then what they added up to each day, for five years."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from tests.factories import held
from tests.factories.held import RUNS, SEATS
from tests.planting import plant
from thenga.domains.billing.jobs import usage as declared
from thenga.domains.billing.services.usage import retention
from thenga.domains.billing.tables import UsageDay, UsageRecord
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.values.calendar import local_day

SPACES = "bid.workspaces"
MONTHS_12, MONTHS_14 = timedelta(days=365), timedelta(days=427)


@pytest.fixture
async def organization_id(host: Host, seeded: None) -> UUID:
    made = uuid4()
    await held.subscribed(host, made)
    return made


def by_system(host: Host, whose: UUID | None, ahead: timedelta = timedelta(0)) -> Work:
    scope = Scope(SYSTEM, whose, clock_offset=ahead)
    return Work(host, "billing", scope, Origin("test", "test", "test"), login="billing_system")


async def report(host: Host, organization_id: UUID) -> None:
    """Thirty runs on three days, two workspaces of which one is closed, and seats twice."""
    now = host.now()
    space: dict[str, Any] = {"subject": {"domain": "bid", "type": "workspace", "id": "a"}}
    entries = [
        *(
            held.entry(key=f"{n}", quantity=n + 1, at=now - timedelta(days=n % 3))
            for n in range(30)
        ),
        held.entry(SPACES, "opened", at=now - timedelta(hours=2), operation="hold", **space),
        held.entry(SPACES, "closed", at=now - timedelta(hours=1), operation="release", **space),
        held.entry(SEATS, "few", 3, at=now),
        held.entry(SEATS, "many", 5, at=now),
    ]
    said = await held.used(host, organization_id, entries)
    assert said.accepted == len(entries)


async def folded(host: Host, organization_id: UUID, ahead: timedelta) -> list[int]:
    """Portion after portion, each in a transaction of its own, until nothing is left."""
    counts = []
    while not counts or counts[-1]:
        work = by_system(host, organization_id, ahead)
        counts.append(await retention.compact(work, portion=7))
        await work.finish()
    return counts


async def kept(host: Host, organization_id: UUID) -> tuple[int, list[UsageDay]]:
    work = by_system(host, organization_id)
    records = await work.all(select(UsageRecord))
    days = await work.all(select(UsageDay))
    await work.close()
    return len(records), days


def sums(days: list[UsageDay]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in days:
        name = f"{one.meter} {one.operation}"
        found[name] = found.get(name, 0) + one.quantity
    return found


RIGHT = {f"{RUNS} add": 465, f"{SPACES} hold": 1, f"{SPACES} release": 1, f"{SEATS} add": 5}


@pytest.mark.rule("BIL-19")
async def test_after_thirteen_months_records_are_days(host: Host, organization_id: UUID):
    await report(host, organization_id)

    young = await folded(host, organization_id, MONTHS_12)
    old = await folded(host, organization_id, MONTHS_14)
    again = await folded(host, organization_id, MONTHS_14)
    left, days = await kept(host, organization_id)

    runs = [one for one in days if one.meter == RUNS]
    print(f"records=34 portions={old} days={len(days)} sums={sums(days)} left={left}")
    assert (young, sum(old), again, left) == ([0], 34, [0], 0)
    assert sums(days) == RIGHT
    assert {one.day for one in runs} == {
        local_day(host.now() - timedelta(days=back)) for back in range(3)
    }
    assert [one.records for one in runs] == [10, 10, 10]


async def test_planted_overwritten_usage_day_is_found(
    host: Host, organization_id: UUID, monkeypatch: pytest.MonkeyPatch
):
    right, wrong = "known.quantity + excluded.quantity", "excluded.quantity"
    planted = retention._COMPACT.replace(right, wrong)
    assert planted != retention._COMPACT
    plant(monkeypatch, retention, "_COMPACT", planted)
    await report(host, organization_id)

    await folded(host, organization_id, MONTHS_14)
    _, days = await kept(host, organization_id)

    print(f"planted: {sums(days)}")
    assert sums(days) != RIGHT


@pytest.mark.rule("BIL-19")
async def test_who_has_old_records_is_found_by_its_own_clock(host: Host, organization_id: UUID):
    """A sandbox that is moved 14 months has old records; the same records elsewhere are new."""
    live = uuid4()
    await held.subscribed(host, live)
    for whose in (organization_id, live):
        await report(host, whose)
    async with host.engines.connection("billing", "billing_system") as connection:
        await connection.execute(
            "INSERT INTO billing.clock_offset (organization_id, ahead, sequence) "
            "VALUES ($1, $2, 1)",
            organization_id,
            MONTHS_14,
        )

    work = by_system(host, None)
    due = await retention.due_for_compaction(work, limit=1000)
    await declared.find_old_usage.body(work)
    waiting = [job.key for job in work._jobs]
    await work.close()

    assert (organization_id in due, live in due) == (True, False)
    assert f"compact_usage:{organization_id}:usage" in waiting
    assert len(waiting) == len(due)


@pytest.mark.rule("BIL-19")
async def test_days_go_after_five_years(host: Host, organization_id: UUID):
    await report(host, organization_id)
    await folded(host, organization_id, MONTHS_14)

    counts = []
    for years in (4, 6):
        work = by_system(host, None, timedelta(days=365 * years))
        await retention.delete_old_days(work)
        await work.finish()
        counts.append(len((await kept(host, organization_id))[1]))

    print(f"days after four and six years: {counts}")
    assert counts == [6, 0]
