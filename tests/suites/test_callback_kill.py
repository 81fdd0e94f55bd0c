"""A provider tells of one payment while api dies under it: every call is answered in the end, and
the money counts once."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import asyncpg
import httpx2
import pytest

from tests.domains.billing.paying import told
from tests.domains.billing.test_callbacks import charged
from tests.factories import billing, payments
from tests.providers.loopback import worker
from tests.providers.signing import Sent
from tests.suites import flows
from tests.suites.processes import ApiProcess, with_own_limits
from tests.suites.sizes import size
from thenga.domains.billing.tables import Payment
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

pytestmark = pytest.mark.no_retry

CLIENTS = 5


@dataclass
class Provider:
    """Clients that send one call again until it is answered with 200, as providers do."""

    url: str
    sent: Sent
    answers: list[int] = field(default_factory=list)
    unanswered: int = 0

    async def insist(self) -> None:
        async with httpx2.AsyncClient(base_url=self.url, timeout=60, trust_env=False) as client:
            while not await self._is_taken(client):
                await asyncio.sleep(0.2)

    async def _is_taken(self, client: httpx2.AsyncClient) -> bool:
        headers = list(self.sent.headers)
        try:
            answer = await client.post(self.sent.path, content=self.sent.body, headers=headers)
        except httpx2.TransportError:
            self.unanswered += 1
            return False
        self.answers.append(answer.status_code)
        return answer.status_code == 200


@dataclass
class Scene:
    """One payment, the process that hears of it, and the database that knows what was kept."""

    admin: asyncpg.Connection
    api: ApiProcess
    provider: Provider

    async def at_the_door(self) -> None:
        """Every client's call has come in, and nothing of it is written."""
        await self.admin.execute("BEGIN; LOCK TABLE billing.provider_callback IN SHARE MODE")
        try:
            await flows.until(self._all_wait)
            await asyncio.to_thread(self.api.kill)
        finally:
            await self.admin.execute("ROLLBACK")

    async def _all_wait(self) -> bool:
        waiting: int = await self.admin.fetchval(
            "SELECT count(*) FROM pg_locks WHERE NOT granted "
            "AND relation = 'billing.provider_callback'::regclass"
        )
        return waiting == CLIENTS

    async def once_kept(self) -> None:
        """The first one is written down, and most of them have no answer yet."""
        await flows.until(self._is_kept)
        await asyncio.to_thread(self.api.kill)

    async def _is_kept(self) -> bool:
        return await self.kept() > 0

    async def once_answered(self) -> None:
        """Every client has its answer, so nobody will send it again."""
        await flows.until(self._all_have_answers)
        await asyncio.to_thread(self.api.kill)

    async def _all_have_answers(self) -> bool:
        return self.provider.answers.count(200) == CLIENTS

    async def kept(self) -> int:
        digest = hashlib.sha256(self.provider.sent.body).digest()
        found: int = await self.admin.fetchval(
            "SELECT count(*) FROM billing.provider_callback WHERE sha256 = $1", digest
        )
        return found


Moment = Callable[[Scene], Awaitable[None]]


@asynccontextmanager
async def scene(
    settings: Settings, folder: Path, of: Payment, app: str | None
) -> AsyncIterator[Scene]:
    env = {key: value for key, value in os.environ.items() if key.startswith("THENGA_")}
    api = ApiProcess(with_own_limits(env, 12), folder, name="api-heard", app=app)
    admin = await asyncpg.connect(settings.admin_database.get_secret_value())
    try:
        await asyncio.to_thread(api.start)
        yield Scene(admin, api, Provider(api.url, charged(of)))
    finally:
        await asyncio.to_thread(api.kill)
        await admin.close()


async def lived(made: Scene, *moments: Moment) -> None:
    """All clients at once, and api killed at each of these moments and started again."""
    clients = [asyncio.create_task(made.provider.insist()) for _ in range(CLIENTS)]
    for moment in moments:
        await moment(made)
        await asyncio.to_thread(made.api.start)
    await asyncio.gather(*clients)


async def worked_off(host: Host, of: Payment) -> None:
    """Let the worker do its part, until the invoice of this payment has its number."""

    async def numbered() -> bool:
        async with host.engines.connection("billing", "billing_system") as connection:
            number = await connection.fetchval(
                "SELECT number FROM billing.invoice WHERE id = $1", of.invoice_id
            )
        return number is not None

    async with worker(host):
        await flows.until(numbered, seconds=60)


async def effects(host: Host, of: Payment) -> tuple[int, int]:
    """Events of success, and allocations to the invoice."""
    async with host.engines.connection("billing", "billing_system") as connection:
        allocated: int = await connection.fetchval(
            "SELECT count(*) FROM billing.journal_entry WHERE organization_id = $1 "
            "AND source_id = $2 AND kind = 'allocation'",
            *(of.organization_id, of.invoice_id),
        )
    events = await told(host, of.organization_id)
    return events.count("PaymentSucceeded"), allocated


@pytest.fixture
async def owed(host: Host, seeded: None) -> Payment:
    """499.00 that a customer pays on the provider's pages."""
    place = uuid4()
    await billing.account(host, place)
    return await payments.payment(host, place)


@pytest.mark.rule("BIL-34")
async def test_success_sent_five_times_during_a_kill_counts_once(
    settings: Settings, host: Host, owed: Payment, tmp_path: Path
) -> None:
    kills = (Scene.at_the_door, Scene.once_kept, Scene.once_answered)[: size(2, 3)]
    async with scene(settings, tmp_path, owed, app=None) as made:
        await lived(made, *kills)
        kept = await made.kept()

    await worked_off(host, owed)

    provider, (succeeded, allocated) = made.provider, await effects(host, owed)
    print(
        f"\nclients={CLIENTS} kills={len(kills)} answered={provider.answers} "
        f"unanswered={provider.unanswered} kept={kept} PaymentSucceeded={succeeded} "
        f"allocations={allocated}"
    )
    assert provider.answers == [200] * CLIENTS
    assert provider.unanswered >= CLIENTS  # the first kill left nobody an answer
    assert (kept, succeeded, allocated) == (1, 1, 1)


@pytest.mark.prove
async def test_a_planted_api_that_answers_before_it_has_kept_is_found(
    settings: Settings, host: Host, owed: Payment, tmp_path: Path
) -> None:
    app = "tests.suites.planted_apps:hasty"
    async with scene(settings, tmp_path, owed, app=app) as made:
        clients = [asyncio.create_task(made.provider.insist()) for _ in range(CLIENTS)]
        await made.once_answered()
        await asyncio.gather(*clients)
        kept = await made.kept()

    assert made.provider.answers == [200] * CLIENTS
    assert (kept, *await effects(host, owed)) == (0, 0, 0)
