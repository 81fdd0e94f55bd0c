"""Companies with profiles: two that offer something, and one that looks for it."""

import httpx2
import pytest

from tests.domains.supplier.desks import Desk, desk
from thenga.kernel.process.host import Host


@pytest.fixture
async def builder(api: httpx2.AsyncClient, host: Host, seeded: None) -> Desk:
    return await desk(api, host, "Ndlovu Builders")


@pytest.fixture
async def rival(api: httpx2.AsyncClient, host: Host, seeded: None) -> Desk:
    return await desk(api, host, "Pillay Construction")


@pytest.fixture
async def buyer(api: httpx2.AsyncClient, host: Host, seeded: None) -> Desk:
    return await desk(api, host, "Umzi Schools Trust")
