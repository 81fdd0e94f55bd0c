"""Real servers for the whole run, one database, and the doors to it."""

import gc
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
import structlog
import uvloop
from fastapi import FastAPI
from hypothesis import settings as hypothesis_settings

from tests import ends, lanes, meshes, patience, providers, records
from tests.documented import documented
from tests.factories import facts
from tests.left_open import Units
from tests.letters import Letters
from tests.probe import MIGRATIONS as PROBE_MIGRATIONS
from tests.set_clock import SetClock
from tests.settling import Settle, set_aside, sides_of, transaction_number
from tests.suites import streams
from tests.world import World
from thenga import topology
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.db.reader import Reader
from thenga.kernel.db.work import Work
from thenga.kernel.declare.port import Port
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.ports.binding import stand_in
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.main import build
from thenga.starting import make_host
from thenga.tooling.dev import servers
from thenga.tooling.testing.recording import Recorder
from thenga.tooling.testing.recording import recorder as make_recorder

# Some tests fail hundreds of jobs on purpose, or meet those that others have left: a traceback with
# the locals of each frame takes longer than such a job.
_PLAIN = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _PLAIN])

# A busy machine is no counterexample: how long one example takes is promised nowhere.
hypothesis_settings.register_profile("thenga", deadline=None)
hypothesis_settings.load_profile("thenga")


Silence = Callable[[type[Port]], None]

# The loop that the application runs on; it takes a twentieth less CPU than asyncio's own.
uvloop.install()


def pytest_configure(config: pytest.Config) -> None:
    records.register(config)
    ends.register(config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    lanes.select(config, items)


def pytest_collection_finish() -> None:
    """As the application does: what was imported is not looked through again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(scope="session", autouse=True)
def patient_session() -> None:
    """What lives as long as the session waits long, whichever test is the first to need it."""
    patience.wait_long()


@pytest.fixture(autouse=True)
def timeouts(request: pytest.FixtureRequest, patient_session: None) -> Iterator[None]:
    if request.node.get_closest_marker("real_timeouts") is None:
        yield
        return
    patience.wait_as_declared()
    yield
    patience.wait_long()


@pytest.fixture(scope="session")
def units() -> Iterator[Units]:
    """Every unit of work of this run, from its first statement to its end."""
    watching = Units()
    with pytest.MonkeyPatch.context() as patch:
        watching.watch(patch)
        yield watching


@pytest.fixture(autouse=True)
async def nothing_left_open(units: Units) -> AsyncIterator[None]:
    """A test that fails keeps no connection from the tests after it."""
    before = units.open()
    yield
    await units.close_left(before)


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    """The folder of this run's own PostgreSQL, NATS and Redis; `scanner` starts ClamAV."""
    folder = Path(tempfile.mkdtemp(prefix="thenga-test-"))
    folder.chmod(0o755)
    # Suites about what is kept have servers of their own, which sync (tests/suites/own.py).
    needed = ("postgres", "nats", "redis")
    settings = servers.up(folder, meshes.reads(), synced=False, names=needed)
    # Kept from the outside: a process that a test starts finds the same servers.
    os.environ.update(settings | {"THENGA_TEST_BUILD": "true"} | providers.SETTINGS)
    yield folder
    servers.remove(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def letters() -> Iterator[Letters]:
    """The letters that this run sends, over real SMTP on loopback."""
    with Letters() as received:
        yield received


@pytest.fixture(scope="session")
def settings(home: Path, letters: Letters) -> Settings:
    """The settings of this run, with every domain and the probe migrated."""
    os.environ["THENGA_SMTP_PORT"] = str(letters.port)
    made = Settings()
    domains = topology.load(topology.DOMAINS)
    targets = [Migrated(d.name, d.migrations, d.gate) for d in domains]
    migrate(made, [*targets, Migrated("probe", PROBE_MIGRATIONS)])
    return made


@pytest.fixture(scope="session")
async def host(settings: Settings) -> AsyncIterator[Host]:
    made = make_host(settings)
    yield made
    await made.engines.close()


class Opening:
    """Opens units of work in tests the way entrances do."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def _origin(self) -> Origin:
        return Origin(action="test", request_id="test-request", correlation_id="test-request")

    def work(self, organization_id: UUID | None = None, domain: str = "probe") -> Work:
        scope = Scope(actor=SYSTEM, organization_id=organization_id)
        return Work(self.host, domain, scope, self._origin())

    def reader(self, organization_id: UUID | None = None, domain: str = "probe") -> Reader:
        scope = Scope(actor=SYSTEM, organization_id=organization_id)
        return Reader(self.host, domain, scope, self._origin())


@pytest.fixture
def opening(host: Host) -> Opening:
    return Opening(host)


@pytest.fixture(scope="session")
async def seeded(host: Host) -> None:
    """The permission catalogue, roles and policies of this deployment."""
    domains = topology.load(topology.DOMAINS)
    for domain in domains:
        if domain.at_deployment is not None:
            await domain.at_deployment(host, domains)
    await facts.without_bounds(host)


@pytest.fixture(scope="session")
async def app(settings: Settings, seeded: None) -> AsyncIterator[FastAPI]:
    """The application as `thenga api` serves it, on a host of its own, limits out of the way."""
    # Its counts stand in a Redis database of their own, apart from those of child processes.
    generous = settings.model_copy(
        update={
            "actor_per_minute": 10_000_000,
            "auth_address_per_minute": 10_000_000,
            "hashes_per_second": 10_000_000,
            "callbacks_per_second": 10_000_000,
            "usage_batches_per_second": 10_000_000,
            "redis": settings.redis.replace("/0", "/1"),
        }
    )
    made_on = make_host(generous, system_logins=False)
    yield build(generous, made_on)
    await made_on.close()


@pytest.fixture(scope="session", autouse=True)
def recorder() -> Iterator[Recorder | None]:
    """Keeps the examples of the API document when `THENGA_RECORD=1`."""
    recording = make_recorder(topology.load(topology.DOMAINS))
    if recording is not None:
        recording.begin()
    yield recording
    if recording is not None:
        recording.write()


@pytest.fixture(autouse=True)
def at_the_beginning(recorder: Recorder | None) -> None:
    """What a test shows of time is the same in every recording."""
    if recorder is not None:
        recorder.begin()


@pytest.fixture
async def api(app: FastAPI, recorder: Recorder | None) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that speaks to the application; give it `headers=person.headers`."""
    hooks = [documented().noting] if recorder is None else [documented().noting, recorder.noting]
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app),
        base_url="http://thenga.test/v1",
        event_hooks={"response": hooks},
    ) as client:
        yield client


@pytest.fixture
def bound(app: FastAPI) -> Host:
    """The host of the application, on which every port is answered."""
    made: Host = app.state.shared.host
    return made


@pytest.fixture
def silence(bound: Host, monkeypatch: pytest.MonkeyPatch) -> Silence:
    """Let a port answer nothing."""

    def quiet(port: type[Port]) -> None:
        async def ask(shape: Any, arguments: dict[str, object]) -> object:
            raise DependencyUnavailable(dependency=port.port_name)

        monkeypatch.setitem(bound.bindings._bound, port, stand_in(port, ask))

    return quiet


class Time:
    """The clock of the application and of the worker's side, moved together by a test.

    It goes on running; moving it brings both to another moment.
    """

    def __init__(self, *hosts: Host) -> None:
        self._hosts = hosts
        self._was = [host.clock for host in hosts]
        self._ahead = timedelta(0)

    def now(self) -> datetime:
        return self._was[0].now() + self._ahead

    def move(self, delta: timedelta) -> None:
        self._ahead += delta
        for host in self._hosts:
            host.clock = self

    def set(self, at: datetime) -> None:
        """Stand still at that moment."""
        for host in self._hosts:
            host.clock = SetClock(at)

    def restore(self) -> None:
        for host, clock in zip(self._hosts, self._was, strict=True):
            host.clock = clock


@pytest.fixture
def clock(app: FastAPI, host: Host) -> Iterator[Time]:
    """What belongs to a person follows the base clock (IDN-51), so tests of it move that one."""
    time = Time(app.state.shared.host, host)
    yield time
    time.restore()


@pytest.fixture
def world(
    api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time, request: pytest.FixtureRequest
) -> World:
    """An organization, its people and its time, in the domain of the test."""
    own = request.path.parent.name
    names = [own] if own in topology.DOMAINS else list(topology.DOMAINS)
    return World(api, host, clock, topology.load(names))


@pytest.fixture
def noon(clock: Time) -> None:
    """Tomorrow at noon in South Africa: the end of a day never falls into the test."""
    clock.move(clock.now().replace(hour=10, minute=0) + timedelta(days=1) - clock.now())


@pytest.fixture(scope="module")
async def began(settings: Settings, host: Host) -> int:
    """A transaction before all that the tests of this module make with a worker at their side.

    What earlier modules told and nobody has read yet is gone then.
    """
    await streams.purge(host)
    return transaction_number(settings)


@pytest.fixture(autouse=True)
def left_behind(request: pytest.FixtureRequest) -> None:
    """Before anything of a test is made, what earlier ones left is taken out of the way."""
    if "settle" in request.fixturenames:
        set_aside(request.getfixturevalue("settings"), request.getfixturevalue("began"))


@pytest.fixture
def nothing_waits(settings: Settings, began: int) -> None:
    """As `left_behind`, for tests that run a worker of their own."""
    set_aside(settings, began)


@pytest.fixture
async def settle(host: Host, seeded: None, request: pytest.FixtureRequest) -> AsyncIterator[Settle]:
    """The worker's side while a test runs: `await settle(until)` waits for what events bring."""
    marker = request.node.get_closest_marker("settles")
    reads = "letters" in request.fixturenames
    sides = sides_of(request.path, marker.args if marker else (), reads_letters=reads)
    async with Settle(host, sides) as settling:
        yield settling
