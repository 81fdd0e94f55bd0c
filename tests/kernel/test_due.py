"""What is due: by the base clock for everybody, and ahead of it for sandboxes."""

from datetime import timedelta
from uuid import UUID

import pytest

from tests.conftest import Opening
from tests.errand import MIGRATIONS, Chore, Errand
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.db.work import Work
from thenga.kernel.declare.job import Jobs
from thenga.kernel.jobs.due import due, when_due
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id


@pytest.fixture(scope="module")
def errand(settings: Settings) -> str:
    migrate(settings, [Migrated("errand", MIGRATIONS)])
    return "errand"


async def test_what_is_due_follows_each_organizations_clock(
    host: Host, opening: Opening, errand: str
) -> None:
    plain, sandbox = new_id(), new_id()
    async with host.engines.connection(errand, "errand_system") as connection:
        await connection.execute(
            "INSERT INTO errand.clock_offset VALUES ($1, $2, 1)", sandbox, timedelta(days=30)
        )
    made: dict[str, UUID] = {}
    for name, organization_id, days in (
        ("plain due", plain, -1),
        ("plain later", plain, 10),
        ("sandbox due", sandbox, -2),
        ("sandbox ahead", sandbox, 29),
        ("sandbox later", sandbox, 31),
    ):
        work = opening.work(organization_id, errand)
        at = host.now() + timedelta(days=days)
        made[name] = (await work.add(Errand(organization_id=organization_id, next_check_at=at))).id
        await work.finish()

    origin = Origin("test", request_id="test", correlation_id="test")
    sweep = Work(host, errand, Scope(actor=SYSTEM), origin, login="errand_system")
    found = await due(sweep, Errand, limit=10)
    first = await due(sweep, Errand, limit=1)
    await sweep.close()

    assert found == [
        (sandbox, made["sandbox due"]),
        (plain, made["plain due"]),
        (sandbox, made["sandbox ahead"]),
    ]
    assert first == found[:1]


async def test_rows_of_the_platform_are_due_by_the_base_clock(host: Host, errand: str) -> None:
    origin = Origin("test", request_id="test", correlation_id="test")
    sweep = Work(host, errand, Scope(actor=SYSTEM), origin, login="errand_system")
    past, future = (host.now() + timedelta(days=days) for days in (-1, 1))
    chore = await sweep.add(Chore(next_check_at=past))
    await sweep.add(Chore(next_check_at=future))
    found = await due(sweep, Chore, limit=10)
    await sweep.close()
    jobs = Jobs("errand")

    @when_due(jobs, Chore, every=timedelta(minutes=1))
    async def do_chore(work: Work, *, chore_id: UUID) -> None: ...

    assert found == [(None, chore.id)]
    assert jobs.declared["do_chore"].as_system
    assert jobs.moved == {}  # no sandbox clock moves it
