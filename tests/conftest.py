"""Real servers for the whole run, one database, and the doors to it."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from tests.probe import MIGRATIONS as PROBE_MIGRATIONS
from thenga import topology
from thenga.kernel.actors import SYSTEM, Scope
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.db.reader import Origin, Reader
from thenga.kernel.db.work import Work
from thenga.kernel.dev import servers
from thenga.kernel.host import Host, make_host
from thenga.kernel.settings import Settings


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    """The folder of this run's own PostgreSQL, NATS and Redis."""
    folder = Path(tempfile.mkdtemp(prefix="thenga-test-"))
    folder.chmod(0o755)
    settings = servers.up(folder)
    # Kept from the outside: a process that a test starts finds the same servers.
    os.environ.update(settings | {"THENGA_TEST_BUILD": "true"})
    yield folder
    servers.remove(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def settings(home: Path) -> Settings:
    """The settings of this run, with every domain and the probe migrated."""
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
