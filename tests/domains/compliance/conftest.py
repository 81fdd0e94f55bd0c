"""ClamAV beside the other servers, and a company that files its papers."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.conftest import Time
from tests.factories.compliance_documents import Office
from thenga.kernel.process.host import Host
from thenga.tooling.dev import servers


@pytest.fixture(scope="package")
def clamd(home: Path) -> Iterator[Path]:
    servers.start(home, "clamav")
    yield home
    servers.stop(home, "clamav")


@pytest.fixture
def office(api: httpx2.AsyncClient, host: Host, seeded: None, clock: Time, clamd: Path) -> Office:
    return Office(api, host, clock)
