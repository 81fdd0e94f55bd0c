"""On pooled connections every unit of work sees its own tenant, whatever happened before.

Four connections, three tenants in turn, and among the units some that fail, are cancelled or lose
their connection.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy import select

from tests.conftest import Opening
from tests.probe import Effect, Thing
from tests.suites.sizes import size
from thenga.kernel.access.actors import Scope
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host

pytestmark = pytest.mark.no_retry

CONNECTIONS, WORKERS = 4, 8
_BROKEN = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
_LEFT = """
    SELECT current_setting('app.organization_id', true), current_setting('app.user_id', true),
           current_setting('app.presented', true), current_setting('app.platform', true),
           (SELECT nullif(count(*), 0)::text FROM probe.thing)
"""


@dataclass
class Stage:
    """Four connections, and three tenants with different numbers of rows."""

    opening: Opening
    admin: asyncpg.Connection
    rows: dict[UUID, int] = field(default_factory=dict)
    wrong_tenant: int = 0
    dirty_checkouts: int = 0
    did: Counter[str] = field(default_factory=Counter)
    ending: asyncio.Lock = field(default_factory=asyncio.Lock)


@pytest.fixture
async def stage(settings: Settings) -> AsyncIterator[Stage]:
    host = make_host(settings.model_copy(update={"pool_size": CONNECTIONS}))
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    made = Stage(Opening(host), admin)
    for count in (1, 2, 3):
        organization_id = new_id()
        work = made.opening.work(organization_id)
        for _ in range(count):
            await work.add(Thing(organization_id=organization_id, name="planted"))
        await work.finish()
        made.rows[organization_id] = count
    yield made
    await admin.close()
    await host.close()


async def reads(stage: Stage, tenant: UUID) -> None:
    """Asks without a filter, so that only row security chooses the rows."""
    reader = stage.opening.reader(tenant)
    try:
        found = await reader.records(select(Thing.organization_id))
    finally:
        await reader.close()
    if [record[0] for record in found] != [tenant] * stage.rows[tenant]:
        stage.wrong_tenant += 1


async def writes(stage: Stage, tenant: UUID) -> None:
    work = stage.opening.work(tenant)
    try:
        await work.add(Effect(organization_id=tenant, thing_id=new_id(), cause="suite"))
        await work.finish()
    finally:
        await work.close()


async def writes_for_another(stage: Stage, tenant: UUID) -> None:
    other = next(one for one in stage.rows if one != tenant)
    work = stage.opening.work(tenant)
    try:
        await work.add(Thing(organization_id=other, name="foreign"))
        stage.wrong_tenant += 1
    finally:
        await work.close()


async def fails(stage: Stage, tenant: UUID) -> None:
    work = stage.opening.work(tenant)
    try:
        await work.add(Effect(organization_id=tenant, thing_id=new_id(), cause="undone"))
        await work.query("SELECT 1 / 0")
    finally:
        await work.close()


async def is_cancelled(stage: Stage, tenant: UUID) -> None:
    async def long() -> None:
        work = stage.opening.work(tenant)
        try:
            await work.add(Effect(organization_id=tenant, thing_id=new_id(), cause="undone"))
            await work.query("SELECT pg_sleep(0.05)")
            await work.finish()
        finally:
            await work.close()

    task = asyncio.create_task(long())
    await asyncio.sleep(random.random() * 0.03)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def is_disconnected(stage: Stage, tenant: UUID) -> None:
    work = stage.opening.work(tenant)
    try:
        (backend,) = await work.query("SELECT pg_backend_pid()")
        async with stage.ending:
            await stage.admin.execute("SELECT pg_terminate_backend($1)", backend[0])
        await work.add(Effect(organization_id=tenant, thing_id=new_id(), cause="undone"))
        await work.finish()
    finally:
        await work.close()


Step = Callable[[Stage, UUID], Awaitable[None]]
STEPS: list[Step] = [
    *[reads] * 12, *[writes] * 4, writes_for_another, fails, is_cancelled, is_disconnected,
]  # fmt: skip


async def looks(stage: Stage) -> None:
    """What the next one finds on a connection that has just come back."""
    host: Host = stage.opening.host
    async with host.engines.connection("probe", "probe") as connection:
        if connection.is_in_transaction() or any((await connection.fetch(_LEFT))[0]):
            stage.dirty_checkouts += 1


async def alternate(stage: Stage, transactions: int) -> None:
    """So many units of work, the tenants in turn, over all workers at once."""
    tenants = list(stage.rows)
    waiting = iter(range(transactions))

    async def working() -> None:
        for number in waiting:
            step = STEPS[number * 7 % len(STEPS)]
            try:
                await step(stage, tenants[number % len(tenants)])
                stage.did[step.__name__] += 1
            except _BROKEN as error:
                stage.did[f"{step.__name__}: {type(error).__name__}"] += 1
            with suppress(*_BROKEN):
                await looks(stage)

    await asyncio.gather(*(working() for _ in range(WORKERS)))


async def test_every_unit_of_work_sees_its_own_tenant(stage: Stage) -> None:
    transactions = size(400, 10_000)

    await alternate(stage, transactions)

    done = sum(stage.did.values())
    refused = stage.did["writes_for_another: InsufficientPrivilegeError"]
    print(
        f"transactions={done} wrong_tenant={stage.wrong_tenant} "
        f"dirty_checkouts={stage.dirty_checkouts} connections={CONNECTIONS} "
        f"foreign_writes_refused={refused} {dict(stage.did)}"
    )
    assert done == transactions
    assert stage.wrong_tenant == 0
    assert stage.dirty_checkouts == 0
    assert stage.did["reads"] == transactions * 12 // len(STEPS)
    assert stage.did["fails: DivisionByZeroError"] == refused == transactions // len(STEPS)
    assert "is_disconnected" not in stage.did


async def test_planted_setting_beyond_its_transaction_is_found(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Scope.opening
    monkeypatch.setattr(Scope, "opening", lambda scope: right(scope).replace(", true)", ", false)"))

    await alternate(stage, 100)

    print(f"planted: dirty_checkouts={stage.dirty_checkouts}")
    assert stage.dirty_checkouts > 0


async def test_a_planted_transaction_opened_for_nobody_is_found(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scope, "opening", lambda _: "SELECT 1")

    await alternate(stage, 100)

    print(f"planted: wrong_tenant={stage.wrong_tenant}")
    assert stage.wrong_tenant > 0
