"""A provider with a plan, a customer, a moderator, and companies that offer and look."""

import httpx2
import pytest

from tests.domains.marketplace.matching import Offer, offering
from tests.domains.marketplace.stalls import Moderator, Stall, stall
from tests.domains.supplier.desks import Desk, desk
from tests.factories import identity as people
from tests.factories import marketplace as factory
from tests.factories import marketplace_search as searching
from thenga.kernel.process.host import Host


@pytest.fixture
async def mine(api: httpx2.AsyncClient, host: Host, seeded: None) -> Stall:
    made = await stall(api, host, "Mokoena Plant Hire")
    await factory.provider(host, made.who.organization_id)
    return made


@pytest.fixture
async def theirs(api: httpx2.AsyncClient, host: Host, seeded: None) -> Stall:
    return await stall(api, host, "Dlamini Civils")


@pytest.fixture
async def moderator(api: httpx2.AsyncClient, host: Host, seeded: None) -> Moderator:
    return Moderator(api, await people.staff(host, "platform_curator"))


@pytest.fixture
async def builder(api: httpx2.AsyncClient, host: Host, seeded: None) -> Desk:
    return await desk(api, host, "Ndlovu Builders")


@pytest.fixture
async def rival(api: httpx2.AsyncClient, host: Host, seeded: None) -> Desk:
    return await desk(api, host, "Pillay Construction")


@pytest.fixture
async def buyer(api: httpx2.AsyncClient, host: Host, seeded: None) -> Desk:
    return await desk(api, host, "Umzi Schools Trust")


@pytest.fixture
async def category(host: Host, seeded: None) -> str:
    """A category that no other test uses."""
    return str((await searching.category(host)).id)


@pytest.fixture
def offer(bound: Host, api: httpx2.AsyncClient, builder: Desk, category: str) -> Offer:
    """Publish a listing, of a provider whose capability Organization verified."""
    return offering(bound, api, builder, category)
