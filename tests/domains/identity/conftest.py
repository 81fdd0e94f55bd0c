"""An application whose limits for an account are out of the way, and hashes of a small price."""

from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI

from tests.conftest import Time
from tests.documented import documented
from tests.factories import providers
from tests.providers.loopback import serving
from tests.providers.openid import OpenIdServer
from thenga.domains.identity.services.auth import _hashing
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.main import build
from thenga.starting import make_host


@pytest.fixture(scope="package")
async def patient_app(settings: Settings, seeded: None) -> AsyncIterator[FastAPI]:
    amount = 10_000_000
    names = ("actor", "auth_address", "auth_account")
    generous = settings.model_copy(
        update={f"{name}_per_minute": amount for name in names} | {"hashes_per_second": amount}
    )
    made_on = make_host(generous)
    yield build(generous, made_on)
    await made_on.close()


@pytest.fixture
async def patient(patient_app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """As `api`, but an account may be tried as often as one likes."""
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=patient_app),
        base_url="http://thenga.test/v1",
        event_hooks={"response": [documented().noting]},
    ) as client:
        yield client


@pytest.fixture
def patient_clock(patient_app: FastAPI, host: Host) -> Iterator[Time]:
    time = Time(patient_app.state.shared.host, host)
    yield time
    time.restore()


_CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
_NOBODYS = _CHEAP.hash("nobody has this password")


@pytest.fixture(autouse=True)
def quick_hashes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is not about the price of a hash (`FULL_HASHES`) does not pay it a thousand times."""
    if not getattr(request.module, "FULL_HASHES", False):
        monkeypatch.setattr(_hashing, "_HASHER", _CHEAP)
        monkeypatch.setattr(_hashing, "_NOBODYS", _NOBODYS)


@pytest.fixture
async def server(host: Host) -> AsyncIterator[OpenIdServer]:
    made = OpenIdServer(now=lambda: host.now())
    async with serving(made.app) as address:
        made.issuer = address
        yield made


@pytest.fixture
async def code(host: Host, seeded: None, server: OpenIdServer) -> str:
    return await providers.provider(host, server.issuer)
