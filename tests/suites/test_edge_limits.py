"""Limits by address at the socket: who shares one, who is not held up by it (SEC-64, SEC-65)."""

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from ipaddress import IPv6Address
from pathlib import Path
from time import monotonic
from uuid import uuid4

import httpx2
import pytest

from tests import providers
from tests.kernel.running import until_true
from tests.providers import signing
from tests.suites.processes import ApiProcess, with_own_limits
from tests.suites.sockets import FLOODING, OTHER
from thenga.tooling.dev import servers

_GENUINE = 40
_FORGED = 1500
_PER_ADDRESS = 60  # sign-ins a minute, as the settings have it
_SITE = IPv6Address("2001:db8:77::")
PATIENT = "tests.suites.patient_app:app"

pytestmark = [pytest.mark.rule("SEC-64"), pytest.mark.rule("SEC-65")]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-edge-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
async def api(home: Path, folder: Path, seeded: None) -> AsyncIterator[ApiProcess]:
    proxied = {"THENGA_TRUSTED_PROXIES": "127.0.0.9"}
    env = with_own_limits(servers.up(home), 11) | providers.SETTINGS | proxied
    made = ApiProcess(env, folder, name="api-limits", app=PATIENT)
    await asyncio.to_thread(made.start)
    yield made
    await asyncio.to_thread(made.kill)


def calling(api: ApiProcess, address: str) -> httpx2.AsyncClient:
    transport = httpx2.AsyncHTTPTransport(local_address=address)
    return httpx2.AsyncClient(transport=transport, base_url=api.url, timeout=120)


async def sign_ins(api: ApiProcess, senders: Iterable[str]) -> tuple[Counter[int], float]:
    """One sign-in of each address, as a trusted proxy tells them; and the minutes it took."""
    places, heard = asyncio.Semaphore(8), Counter[int]()
    began = monotonic()

    async with calling(api, "127.0.0.9") as client:

        async def one(sender: str) -> None:
            async with places:
                answer = await client.post(
                    "/identity/auth/sign-in", json={}, headers={"X-Forwarded-For": sender}
                )
            heard[answer.status_code] += 1

        await asyncio.gather(*(one(sender) for sender in senders))
    return heard, (monotonic() - began) / 60


def is_limited(heard: Counter[int], minutes: float, per_minute: int) -> bool:
    """Whether so many a minute were let in, and on a busy machine what came back meanwhile."""
    let_in = per_minute <= heard[422] <= per_minute * (1 + minutes) + 1
    return let_in and heard[429] > 0 and set(heard) == {422, 429}


async def test_a_64_is_one_address(api: ApiProcess) -> None:
    heard, minutes = await sign_ins(api, (str(_SITE + n) for n in range(1, 151)))

    print(f"sign_ins=150 from one /64: refused={heard[429]} answers={dict(heard)}")
    assert is_limited(heard, minutes, _PER_ADDRESS)


async def test_a_48_has_a_higher_limit_of_its_own(api: ApiProcess) -> None:
    site = IPv6Address("2001:db8:78::")

    heard, minutes = await sign_ins(api, (str(site + (n << 64) + 1) for n in range(600)))

    print(f"sign_ins=600 from 600 /64 of one /48: refused={heard[429]} answers={dict(heard)}")
    assert is_limited(heard, minutes, _PER_ADDRESS * 8)


async def test_mapped_addresses_stay_addresses_of_their_own(api: ApiProcess) -> None:
    heard, _ = await sign_ins(api, (f"::ffff:10.7.{n // 200}.{n % 200 + 1}" for n in range(150)))

    assert heard == {422: 150}


def true_call() -> signing.Sent:
    data = {"id": uuid4().int % 10**12, "reference": uuid4().hex, "amount": 100, "currency": "ZAR"}
    return signing.paystack("charge.success", data | {"status": "success"})


async def flooded(api: ApiProcess, address: str) -> tuple[Counter[int], Counter[int], float]:
    """What true callbacks of an address hear while strangers send theirs; and the minutes."""
    forged = signing.paystack("charge.success", {"id": 1}, "sk_test_of_a_stranger")
    true, false = Counter[int](), Counter[int]()
    done, began = asyncio.Event(), monotonic()

    async def flood(client: httpx2.AsyncClient) -> None:
        while not done.is_set() and false.total() < _FORGED:
            answer = await client.post(
                forged.path, content=forged.body, headers=list(forged.headers)
            )
            false[answer.status_code] += 1

    async with calling(api, FLOODING) as strangers, calling(api, address) as provider:
        flooding = [asyncio.create_task(flood(strangers)) for _ in range(16)]
        await until_true(lambda: false.total() >= 16)
        for _ in range(_GENUINE):
            sent = true_call()
            answer = await provider.post(sent.path, content=sent.body, headers=list(sent.headers))
            true[answer.status_code] += 1
            await asyncio.sleep(0.02)
        done.set()
        await asyncio.gather(*flooding)
    return true, false, (monotonic() - began) / 60


@pytest.mark.prove
@pytest.mark.parametrize("address", [OTHER, FLOODING])
async def test_strangers_do_not_crowd_out_true_callbacks(api: ApiProcess, address: str) -> None:
    true, false, minutes = await flooded(api, address)

    same = "the same" if address == FLOODING else "another"
    print(f"forged={false.total()} answers={dict(false)} genuine={true.total()}", end=" ")
    print(f"from {same} address: 429={true[429]}")
    assert true == {200: _GENUINE}
    assert false.keys() <= {401, 429}
    # On a busy machine the flood outlasts a window.
    assert false[401] <= _PER_ADDRESS * (2 + minutes)
