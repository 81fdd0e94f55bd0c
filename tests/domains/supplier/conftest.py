"""Two companies with profiles: one that supplies, and one that buys."""

import httpx2
import pytest

from tests.domains.supplier.desks import Desk, desk
from thenga.kernel.process.host import Host


@pytest.fixture
async def mine(api: httpx2.AsyncClient, host: Host, seeded: None) -> Desk:
    return await desk(api, host, "Mokoena Plant Hire")


@pytest.fixture
async def theirs(api: httpx2.AsyncClient, host: Host, seeded: None) -> Desk:
    return await desk(api, host, "Dlamini Civils")
