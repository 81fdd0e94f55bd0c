"""eTenders on loopback, and a company that reads it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.conftest import Time
from tests.factories.opportunity_sources import NOON, Desk
from tests.providers.etenders import Etenders, etenders

from thenga.kernel.process.host import Host
from thenga.tooling.dev import servers


@pytest.fixture(scope="module")
def clamd(home: Path) -> Iterator[None]:
    """ClamAV beside the other servers of this run."""
    servers.start(home, "clamav")
    yield
    servers.stop(home, "clamav")


@pytest.fixture
async def feed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: Host, clock: Time
) -> AsyncIterator[Etenders]:
    clock.set(NOON)
    async with etenders(monkeypatch, tmp_path, lambda: host.now()) as site:
        yield site


@pytest.fixture
async def desk(host: Host, api: httpx2.AsyncClient, seeded: None, clock: Time) -> Desk:
    made = Desk(host, api, clock)
    await made.open()
    return made
