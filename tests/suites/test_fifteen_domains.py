"""Fifteen domains in one worker and one API process: what they hold, and what they cost at rest."""

import asyncio
import json
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from uuid import UUID

import asyncpg
import httpx2
import orjson
import pytest

from tests.conftest import Opening
from tests.factories import identity
from tests.factories.identity import Member
from tests.suites import crowd
from tests.suites.own import own_servers, settings_of
from tests.suites.processes import ApiProcess, Child
from tests.suites.sizes import size
from thenga import topology
from thenga.domains.organization.tables import Equipment
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.events.subscriptions import by_source
from thenga.kernel.outside.outbound import tls
from thenga.kernel.process.host import Host
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host

MOST_CONNECTIONS, MOST_NATS, MOST_START_S, MOST_IDLE_PCT = 200, 3, 5.0, 10.0
MOST_IDLE_PER_S = 500  # transactions
MOST_TIMES_CPU = 1.3  # of the same request without stubs
EVENTS = size(check=6, prove=60)  # of each stub
CALLS = size(check=400, prove=4_000)
IDLE_SECONDS = size(check=6, prove=30)
_ROOT = Path(__file__).parents[2]
_UNLIMITED = dict.fromkeys(
    ("THENGA_ACTOR_PER_MINUTE", "THENGA_AUTH_ADDRESS_PER_MINUTE"), "10000000"
) | {"THENGA_IN_FLIGHT_TENANT": "200"}


@dataclass
class Place:
    """Servers of its own, and one machine to ask for."""

    home: Path
    env: dict[str, str]
    host: Host
    admin: "asyncpg.Connection[asyncpg.Record]"
    owner: Member
    machine: UUID

    @property
    def path(self) -> str:
        return f"/organizations/{self.owner.organization_id}/equipment/{self.machine}"

    def monitor(self, page: str) -> dict[str, list[dict[str, object]]]:
        address = f"{self.env['THENGA_NATS_MONITOR']}/{page}"
        with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310  # loopback
            found: dict[str, list[dict[str, object]]] = json.load(answer)
            return found

    def nats(self) -> int:
        """Connections to NATS; nobody but the worker has any."""
        return len(self.monitor("connz")["connections"])


@pytest.fixture(scope="module")
async def place() -> AsyncIterator[Place]:
    with own_servers(crowd.reads()) as (home, env):
        env |= _UNLIMITED | {"CROWD_HOME": str(home), "PYTHONPATH": str(_ROOT)}
        settings = settings_of(env)
        domains = topology.load(topology.DOMAINS)
        stubs = crowd.write_migrations(home)
        standing = [Migrated(d.name, d.migrations, d.gate) for d in domains]
        migrate(settings, [*standing, *(Migrated(name, path) for name, path in stubs.items())])
        host = make_host(settings)
        await domains[0].at_deployment(host, domains)
        owner = await identity.member(host, new_id(), role="owner")
        machine = await _machine(host, owner.organization_id)
        await host.engines.close()
        admin = await asyncpg.connect(env["THENGA_ADMIN_DATABASE"])
        yield Place(home, env, host, admin, owner, machine)
        await admin.close()
        await host.close()


async def _machine(host: Host, organization_id: UUID) -> UUID:
    work = Opening(host).work(organization_id, "organization")
    made = await work.add(
        Equipment(organization_id=organization_id, name="Excavator", quantity=1, expiries=[])
    )
    await work.finish()
    return made.id


@dataclass
class Running:
    """Both processes with all fifteen domains, and what was seen of them."""

    place: Place
    worker: Child
    api: ApiProcess
    start_s: float
    start_cpu_s: float  # of both, each until it was ready
    most_connections: int = 0
    most_nats: int = 0
    told: list[UUID] = field(default_factory=list)


@asynccontextmanager
async def running(place: Place, *, fresh: bool = True, **more: str) -> AsyncIterator[Running]:
    """Started together; ready once every consumer is made and the API may take traffic.

    Only interpreters of their own (`fresh`) say what starting costs.
    """
    env = place.env | {"THENGA_DOMAINS": ""} | more
    command = [sys.executable, "-m", "tests.suites.crowd"]
    worker = Child("worker", command, env, place.home, fresh=fresh)
    api = ApiProcess(env, place.home, name="api", app="tests.suites.crowd:app", fresh=fresh)
    began = time.perf_counter()
    try:
        worker.begin()
        api.begin()
        await asyncio.to_thread(worker.await_ready, lambda: _is_consuming(place), 180)
        used = worker.cpu_seconds
        await asyncio.to_thread(api.await_ready, api.is_ready, 180)
        took = time.perf_counter() - began
        yield Running(place, worker, api, took, used + api.cpu_seconds)
    finally:
        worker.kill()
        api.kill()


def _is_consuming(place: Place) -> bool:
    standing = topology.load(topology.DOMAINS)  # some react to domains that do not stand yet
    named = [set(by_source(domain)) & set(topology.DOMAINS) for domain in standing]
    wanted = sum(map(len, named)) + len(crowd.STUBS) * (crowd.READ + 1)
    found = place.monitor("jsz?accounts=true&streams=true&consumers=true")
    streams = [s for a in found["account_details"] for s in _listed(a, "stream_detail")]
    return sum(len(_listed(s, "consumer_detail")) for s in streams) >= wanted


def _listed(found: dict[str, object], name: str) -> list[dict[str, object]]:
    listed = found.get(name)
    return listed if isinstance(listed, list) else []


async def load(run: Running) -> float:
    """Events for every reaction and calls for every domain at once; seconds until all is done."""
    began = time.perf_counter()
    async with asyncio.timeout(300), asyncio.TaskGroup() as group:
        watching = group.create_task(_watch(run))
        run.told = await _tell(run.place)
        await _call_every_stub(run.api)
        while await _heard(run) < len(run.told) * crowd.READ:
            await asyncio.sleep(0.1)
        watching.cancel()
    return time.perf_counter() - began


async def _watch(run: Running) -> None:
    """The most connections that both processes had together; nobody else but us has any."""
    watching = await asyncpg.connect(run.place.env["THENGA_ADMIN_DATABASE"])
    while True:
        found = await watching.fetchval(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND usename <> 'postgres'"
        )
        run.most_connections = max(run.most_connections, found)
        run.most_nats = max(run.most_nats, await asyncio.to_thread(run.place.nats))
        await asyncio.sleep(0.02)


async def _tell(place: Place) -> list[UUID]:
    """As the units of work of each stub would, each event about an organization of its own."""
    told = []
    for name in crowd.STUBS:
        rows = [_event(name, place.host.now().isoformat()) for _ in range(EVENTS)]
        told += [event_id for event_id, *_ in rows]
        await place.admin.executemany(
            f"INSERT INTO {name}.outbox "
            f"(id, organization_id, mesh_subject, aggregate, envelope, created_at) "
            f"VALUES ($1, $2, $3, $4, $5, now())",
            rows,
        )
    return told


def _event(name: str, now: str) -> tuple[UUID, UUID, str, str, str]:
    event_id, organization_id = new_id(), new_id()
    envelope = {
        "specversion": "1.0",
        "id": str(event_id),
        "type": f"{name}.Happened.v1",
        "source": f"/{name}",
        "subject": f"thing/{organization_id}",
        "time": now,
        "organizationid": str(organization_id),
        "sequence": 1,
        "data": {},
    }
    subject = f"thenga.{name}.Happened.{organization_id}"
    aggregate, text = str(envelope["subject"]), orjson.dumps(envelope).decode()
    return event_id, organization_id, subject, aggregate, text


async def _heard(run: Running) -> int:
    every = " UNION ALL ".join(
        f"SELECT count(*) AS n FROM {name}.inbox WHERE event_id = ANY($1)" for name in crowd.STUBS
    )
    found: int = await run.place.admin.fetchval(f"SELECT sum(n)::int FROM ({every}) x", run.told)
    return found


async def _call_every_stub(api: ApiProcess) -> None:
    """Twelve at once for each of them: more than all pools together may hold."""
    limits = httpx2.Limits(max_connections=200)
    async with httpx2.AsyncClient(limits=limits, trust_env=False, timeout=180) as client:
        for _ in range(size(check=2, prove=10)):
            asking = [client.get(f"{api.url}/{name}") for name in crowd.STUBS for _ in range(12)]
            assert {answer.status_code for answer in await asyncio.gather(*asking)} == {200}


async def at_rest(run: Running) -> tuple[float, float]:
    """What the worker costs at rest: percent of one core, and transactions a second."""
    await asyncio.sleep(1)  # what was just told is done
    began, before = time.perf_counter(), run.worker.cpu_seconds
    committed = await _transactions(run.place)
    await asyncio.sleep(IDLE_SECONDS)
    used, made = run.worker.cpu_seconds - before, await _transactions(run.place) - committed
    took = time.perf_counter() - began
    return 100 * used / took, made / took


async def _transactions(place: Place) -> int:
    """All that the database has committed; each backend reports its own within seconds."""
    await place.admin.execute("SELECT pg_stat_clear_snapshot()")
    found: int = await place.admin.fetchval(
        "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
    )
    return found


@pytest.fixture(scope="module")
async def fifteen(place: Place) -> AsyncIterator[Running]:
    async with running(place) as run:
        yield run


async def test_connections_of_fifteen_domains_stay_within_bounds(fifteen: Running) -> None:
    took = await load(fifteen)
    idle, transactions = await at_rest(fifteen)

    reactions = len(fifteen.told) * crowd.READ
    print(
        f"\nfifteen connections={fifteen.most_connections} nats={fifteen.most_nats} "
        f"start_s={fifteen.start_s:.1f} idle_cpu_pct={idle:.1f} idle_per_s={transactions:.0f} "
        f"start_cpu_s={fifteen.start_cpu_s:.1f} "
        f"reactions={reactions} reactions_s={took:.1f}"
    )
    assert fifteen.most_connections <= MOST_CONNECTIONS
    assert fifteen.most_nats <= MOST_NATS
    assert transactions <= MOST_IDLE_PER_S  # a busy machine makes fewer
    if size(check=0, prove=1):
        assert idle <= MOST_IDLE_PCT
        assert fifteen.start_cpu_s <= 2 * MOST_START_S  # on two cores, and without waiting
        assert fifteen.start_s <= MOST_START_S


@contextmanager
def _logged_statements(place: Place) -> Iterator[list[int]]:
    """Where the server notes each statement; gives their number when the block has ended."""
    log, counted = place.home / "postgres.log", [0]
    before = log.stat().st_size
    yield counted
    with log.open("rb") as lines:
        lines.seek(before)
        counted[0] = sum(b" execute " in line or b" statement: " in line for line in lines)


async def _get_one(place: Place, api: ApiProcess, calls: int) -> float:
    """CPU milliseconds of the process for one request."""
    headers = place.owner.headers
    async with httpx2.AsyncClient(
        verify=tls(), trust_env=False, headers=headers, timeout=60
    ) as client:
        before = api.cpu_seconds
        for _ in range(calls):
            assert (await client.get(api.url + place.path)).status_code == 200
        return (api.cpu_seconds - before) * 1000 / calls


@pytest.mark.prove
async def test_get_one_costs_no_more_than_without_stubs(place: Place, fifteen: Running) -> None:
    fifteen.worker.stop()
    plain = ApiProcess(place.env, place.home, name="plain")
    await asyncio.to_thread(plain.start)
    try:
        both = {"plain": plain, "fifteen": fifteen.api}
        for api in both.values():
            await _get_one(place, api, 50)
        cpu: dict[str, list[float]] = {name: [] for name in both}
        for _ in range(4):
            for name, api in both.items():
                cpu[name].append(await _get_one(place, api, CALLS // 4))
        statements = {name: await _statements(place, api) for name, api in both.items()}
    finally:
        plain.kill()
        fifteen.api.kill()

    plain_ms, fifteen_ms = median(cpu["plain"]), median(cpu["fifteen"])
    times = fifteen_ms / plain_ms
    print(
        f"\nget_one statements={statements} plain_cpu_ms={plain_ms:.2f} "
        f"fifteen_cpu_ms={fifteen_ms:.2f} times={times:.2f}"
    )
    assert statements["fifteen"] == statements["plain"] > 0
    if size(check=0, prove=1):
        assert times <= MOST_TIMES_CPU


async def _statements(place: Place, api: ApiProcess) -> int:
    """Statements of one request: the median, as a process also does things now and then."""
    await place.admin.execute("ALTER SYSTEM SET log_min_duration_statement = 0")
    await place.admin.execute("SELECT pg_reload_conf()")
    async with asyncio.timeout(60):
        while not await _counted(place, api):  # each session of the server reads it by itself
            await asyncio.sleep(0.05)
    counts = [await _counted(place, api) for _ in range(41)]
    await place.admin.execute("ALTER SYSTEM RESET log_min_duration_statement")
    await place.admin.execute("SELECT pg_reload_conf()")
    return int(median(counts))


async def _counted(place: Place, api: ApiProcess) -> int:
    with _logged_statements(place) as counted:
        await _get_one(place, api, 1)
    return counted[0]


@pytest.mark.prove
async def test_planted_pools_and_runners_without_bounds_are_found(place: Place) -> None:
    async with running(place, fresh=False, CROWD_BUG="1") as run, asyncio.timeout(300):
        loading = asyncio.create_task(load(run))
        # What is asked of it is too much for the server, so it is not awaited to the end.
        while run.most_connections <= MOST_CONNECTIONS or run.most_nats <= MOST_NATS:
            await asyncio.sleep(0.05)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)

    print(f"\nfifteen planted connections={run.most_connections} nats={run.most_nats}")
