"""The API behind the real Caddy: large heads, slow clients, idle connections (SEC-61)."""

import asyncio
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from urllib.request import urlopen
from uuid import uuid4

import pytest

from tests.factories import identity as people
from tests.suites import http2
from tests.suites.processes import ApiProcess, with_own_limits
from tests.suites.proxied import LIVE, NAME, Proxy, answered, first_status, get, named
from tests.suites.sizes import size
from tests.suites.sockets import Raw, head
from thenga.kernel.process.host import Host
from thenga.tooling.dev import servers

_SIGN_IN = "/v1/identity/auth/sign-in"
_IDLE = 500
_JSON = ("content-type", "application/json")

pytestmark = [pytest.mark.rule("SEC-61"), pytest.mark.domains("identity")]


@dataclass(frozen=True)
class Client:
    """What a client sends at once, and what it goes on sending each second; `two` is HTTP/2."""

    two: bool
    sent: bytes
    more: bytes = b""


_LONG = "a" * 33_000
_FIELDS = [(f"x-{number}", "a" * 700) for number in range(50)]  # 35 KB
_LINES = [f"{name}: {value}" for name, value in _FIELDS]
_HALF = get(LIVE, "X-A: a")[:-4]
_HALF_OF_TWO = http2.unfinished(http2.request(NAME, LIVE))
_MORE = http2.frame(http2.CONTINUATION, 0, http2.field("x-a", "a" * 10_000))

LARGE = {
    "HTTP/1, one header": Client(False, get(LIVE, f"X-A: {_LONG}")),
    "HTTP/1, many headers": Client(False, get(LIVE, *_LINES)),
    "HTTP/1, the path": Client(False, get(f"{LIVE}?{_LONG}")),
    "HTTP/1, no end": Client(False, _HALF + b"a" * 1_000_000),
    "HTTP/2, one header": Client(True, http2.request(NAME, LIVE, ("x-a", _LONG))),
    "HTTP/2, many headers": Client(True, http2.request(NAME, LIVE, *_FIELDS)),
    "HTTP/2, the path": Client(True, http2.request(NAME, f"{LIVE}?{_LONG}")),
    "HTTP/2, no end": Client(True, _HALF_OF_TWO + _MORE * 100),
}
SLOW_HEADS = {
    "HTTP/1, nothing": Client(False, b""),
    "HTTP/1, half a head": Client(False, _HALF),
    "HTTP/1, a byte a second": Client(False, _HALF, b"a"),
    "HTTP/2, nothing": Client(True, b""),
    "HTTP/2, half a head": Client(True, _HALF_OF_TWO),
    "HTTP/2, a header a second": Client(
        True, _HALF_OF_TWO, http2.frame(http2.CONTINUATION, 0, http2.field("x-a", "a"))
    ),
}
_BODY = named(head(_SIGN_IN, "Content-Type: application/json", length=10_000))
_CHUNKS = named(head(_SIGN_IN, "Transfer-Encoding: chunked", length=None)) + b"1\r\n{\r\n"
_BODY_OF_TWO = http2.request(NAME, _SIGN_IN, _JSON, method="POST", body=b"{")
SLOW_BODIES = {
    "HTTP/1, half a body": Client(False, _BODY),
    "HTTP/1, a byte a second": Client(False, _BODY, b" "),
    "HTTP/1, a chunk a second": Client(False, _CHUNKS, b"1\r\n \r\n"),
    "HTTP/2, half a body": Client(True, _BODY_OF_TWO),
    "HTTP/2, a byte a second": Client(True, _BODY_OF_TWO, http2.frame(http2.DATA, 0, b" ")),
}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-proxy-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
async def api(home: Path, folder: Path, seeded: None) -> AsyncIterator[ApiProcess]:
    settings = {"THENGA_TRUSTED_PROXIES": "127.0.0.1", "THENGA_ACTOR_PER_MINUTE": "100000"}
    made = ApiProcess(with_own_limits(servers.up(home), 10) | settings, folder, name="api-behind")
    await asyncio.to_thread(made.start)
    yield made
    await asyncio.to_thread(made.kill)


@pytest.fixture(scope="module")
async def proxy(api: ApiProcess, folder: Path) -> AsyncIterator[Proxy]:
    async with started(Proxy(folder, api.port)) as made:
        yield made


@pytest.fixture(scope="module")
async def loose(api: ApiProcess, folder: Path) -> AsyncIterator[Proxy]:
    """A proxy without the bounds of ours."""
    changes = {"28KiB": "1MiB", " 10s": " 1h", "\t\tenable_full_duplex\n": ""}
    async with started(Proxy(folder, api.port, name="caddy-loose", changes=changes)) as made:
        yield made


@asynccontextmanager
async def started(proxy: Proxy) -> AsyncIterator[Proxy]:
    try:
        await asyncio.to_thread(proxy.start)
        yield proxy
    finally:
        await asyncio.to_thread(proxy.kill)


async def requests_seen(api: ApiProcess) -> int:
    """How many requests for a sign of life the API has answered so far."""
    with await asyncio.to_thread(urlopen, f"{api.internal}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    counts = re.findall(rf'^thenga_http_request_seconds_count{{.*"{LIVE}".*}} (\S+)$', text, re.M)
    return int(sum(map(float, counts)))


async def status_of(proxy: Proxy, client: Client) -> int:
    raw = await proxy.connect(two=client.two)
    try:
        with suppress(ConnectionError):  # it is refused before it has said everything
            await raw.send(client.sent)
        return await first_status(raw, two=client.two)
    finally:
        raw.writer.transport.abort()


async def endured(proxy: Proxy, client: Client) -> tuple[int, bool]:
    """The status that a slow client got, and whether its connection was then closed."""
    raw = await proxy.connect(two=client.two)
    raw.writer.write(client.sent)
    dripping = asyncio.create_task(_drip(raw, client.more))
    try:
        status = await first_status(raw, two=client.two)
        return status, await raw.closed(120)
    finally:
        dripping.cancel()
        raw.writer.transport.abort()


async def _drip(raw: Raw, more: bytes) -> None:
    while more and not raw.writer.transport.is_closing():
        raw.writer.write(more)
        await asyncio.sleep(1)


async def endured_all(proxy: Proxy, clients: Iterable[Client]) -> Counter[tuple[int, bool]]:
    return Counter(await asyncio.gather(*(endured(proxy, client) for client in clients)))


@pytest.mark.parametrize("two", [False, True], ids=["HTTP/1", "HTTP/2"])
async def test_a_head_of_27_kb_reaches_the_api(proxy: Proxy, api: ApiProcess, two: bool) -> None:
    length = 27_000
    before = await requests_seen(api)
    client = (
        Client(True, http2.request(NAME, LIVE, ("x-a", "a" * length)))
        if two
        else Client(False, get(LIVE, "X-A: " + "a" * length))
    )

    assert await status_of(proxy, client) == 200
    assert await requests_seen(api) == before + 1


@pytest.mark.parametrize("kind", LARGE)
async def test_a_large_head_ends_at_the_proxy(proxy: Proxy, api: ApiProcess, kind: str) -> None:
    before = await requests_seen(api)

    status = await status_of(proxy, LARGE[kind])

    assert status in (431, 0)
    assert await requests_seen(api) == before


@pytest.mark.parametrize("two", [False, True], ids=["HTTP/1", "HTTP/2"])
async def test_a_planted_proxy_that_takes_more_is_found(
    loose: Proxy, api: ApiProcess, two: bool
) -> None:
    before = await requests_seen(api)

    status = await status_of(loose, LARGE["HTTP/2, one header" if two else "HTTP/1, one header"])

    assert status == 200
    assert await requests_seen(api) == before + 1


async def test_slow_clients_are_closed_and_others_answered(proxy: Proxy) -> None:
    heads = asyncio.create_task(endured_all(proxy, SLOW_HEADS.values()))
    bodies = asyncio.create_task(endured_all(proxy, SLOW_BODIES.values()))
    others = Counter([await status_of(proxy, Client(False, get(LIVE))) for _ in range(20)])

    print(f"\nheads={dict(await heads)} bodies={dict(await bodies)} others={dict(others)}")
    assert others == {200: 20}
    assert await heads == {(0, True): len(SLOW_HEADS)}
    assert await bodies == {(408, True): len(SLOW_BODIES)}


@pytest.mark.prove
async def test_a_planted_proxy_that_waits_is_found(loose: Proxy, proxy: Proxy) -> None:
    """It still waits when ours has closed the connections that were opened after its own."""
    clients = [*SLOW_HEADS.values(), SLOW_BODIES["HTTP/1, half a body"]]
    waiting = [await loose.connect(two=client.two) for client in clients]
    for raw, client in zip(waiting, clients, strict=True):
        await raw.send(client.sent)

    ours = await endured_all(proxy, clients)

    assert ours == {(0, True): len(SLOW_HEADS), (408, True): 1}
    assert [await raw.closed(0.1) for raw in waiting] == [False] * len(clients)
    for raw in waiting:
        raw.writer.transport.abort()


async def test_a_name_that_is_not_ours_is_not_served(proxy: Proxy) -> None:
    sent = get(LIVE, "Connection: close").replace(NAME.encode(), b"other.internal")

    assert b'"live"' not in await answered(proxy, sent)


@pytest.mark.prove
async def test_others_wait_no_longer_beside_idle_connections(
    proxy: Proxy, api: ApiProcess, host: Host
) -> None:
    owner = await people.member(host, uuid4(), role="owner")
    path = f"/v1/organizations/{owner.organization_id}/equipment"
    asked = get(path, f"Authorization: Bearer {owner.token}")
    times = size(check=1, prove=25)
    before = await requests_seen(api)
    heads = Counter([await status_of(proxy, each) for each in [*LARGE.values()] * times])
    seen = await requests_seen(api) - before
    slow = await endured_all(proxy, [*SLOW_HEADS.values()] * times)

    await timed(proxy, asked, 20)  # what the first requests load is not measured
    quiet: list[float] = []
    busy: list[float] = []
    async with asyncio.timeout(1200):
        while len(busy) < size(check=20, prove=500):
            quiet += await timed(proxy, asked, size(check=20, prove=50))
            async with idling(proxy, _IDLE) as idle:
                meanwhile = await timed(proxy, asked, size(check=20, prove=50))
                # On a machine that stood still some are gone, and this round says nothing.
                if not any(raw.writer.transport.is_closing() for raw in idle):
                    busy += meanwhile

    usual, loaded = (quantiles(each, n=20)[-1] for each in (quiet, busy))
    print(f"\nedge heads={heads[431] + heads[0]} slow={slow[0, True]} idle={_IDLE}", end=" ")
    print(f"quiet_p95_ms={usual:.1f} busy_p95_ms={loaded:.1f} ratio={loaded / usual:.2f}")
    assert (heads.keys() <= {431, 0}, seen) == (True, 0)
    assert slow == {(0, True): len(SLOW_HEADS) * times}
    if size(0, 1):
        assert loaded <= 2 * usual


@asynccontextmanager
async def idling(proxy: Proxy, count: int) -> AsyncIterator[list[Raw]]:
    """Connections that got one answer each and say nothing more; every second one is HTTP/2."""
    made: list[Raw] = []

    async def used(two: bool) -> None:
        raw = await proxy.connect(two=two)
        made.append(raw)
        await raw.send(http2.request(NAME, LIVE) if two else get(LIVE))
        assert await first_status(raw, two=two) == 200

    try:
        for _ in range(count // 50):
            await asyncio.gather(*(used(bool(number % 2)) for number in range(50)))
        yield made
    finally:
        for raw in made:
            raw.writer.transport.abort()


async def timed(proxy: Proxy, asked: bytes, times: int) -> list[float]:
    """The milliseconds of each request, one after the other on one connection."""
    raw = await proxy.connect()
    took = []
    for _ in range(times):
        begun = perf_counter()
        await raw.send(asked)
        answer = await raw.reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)\r\n", answer)
        assert answer.startswith(b"HTTP/1.1 200 ") and length, answer
        await raw.reader.readexactly(int(length[1]))
        took.append((perf_counter() - begun) * 1000)
    raw.writer.close()
    return took
