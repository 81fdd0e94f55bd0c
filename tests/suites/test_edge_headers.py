"""Heads at the socket: too large, too many lines, too slow, too many (SEC-61)."""

import asyncio
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests import providers
from tests.kernel.running import until_true
from tests.providers import signing
from tests.suites.processes import ApiProcess, with_own_limits
from tests.suites.sizes import size
from tests.suites.sockets import FLOODING, OTHER, Raw, ask, ask_often, connect, head, opened
from thenga.kernel.http import protocol
from thenga.tooling.dev import servers

_LIVE = "/health/live"
_LIVE_MS = 500  # in full size; where nothing else runs it is below 50
_ALLOWED = 256
# Where nobody has prebuilt the documents, the first who asks waits until they are made.
_PATIENT = {"THENGA_REQUEST_SECONDS": "300"}

pytestmark = pytest.mark.rule("SEC-61")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-edge-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
async def api(home: Path, folder: Path, seeded: None) -> AsyncIterator[ApiProcess]:
    made = ApiProcess(
        with_own_limits(servers.up(home), 10) | providers.SETTINGS | _PATIENT,
        folder,
        name="api-heads",
    )
    await asyncio.to_thread(made.start)
    yield made
    await asyncio.to_thread(made.kill)


async def slowest(port: int, until: asyncio.Task[object]) -> float:
    """The longest that another address waited for a sign of life meanwhile."""
    worst = 0.0
    while not until.done():
        status, took = await asyncio.to_thread(ask, port, _LIVE, OTHER)
        assert status == 200
        worst = max(worst, took)
        await asyncio.sleep(0.02)
    return worst


async def poured(raw: Raw, start: bytes, part: bytes, parts: int) -> int:
    """Send a head without an end, as fast as the server takes it; the status of its answer."""
    try:
        await raw.send(start + part)
        if (early := await raw.status(0.3)) != -1:
            return early
        for _ in range(parts):
            await raw.send(part)
    except ConnectionError:
        pass
    return await raw.status(60)


ENDLESS = {
    "one header": (head("/v1/x", method="GET", length=None)[:-2] + b"X-A: ", b"a" * 65536),
    "a name": (head("/v1/x", method="GET", length=None)[:-2], b"a" * 65536),
    "the path": (b"GET /v1/", b"a" * 65536),
    "the query": (b"GET /v1/x?", b"a" * 65536),
    "many headers": (
        head("/v1/x", method="GET", length=None)[:-2],
        b"".join(b"X-%d: a\r\n" % n for n in range(5000)),
    ),
    "a trailer": (
        head("/v1/billing/providers/paystack/callbacks", "Transfer-Encoding: chunked", length=None)
        + b"1\r\n{\r\n0\r\nX-A: ",
        b"a" * 65536,
    ),
    "a chunk extension": (
        head("/v1/billing/providers/paystack/callbacks", "Transfer-Encoding: chunked", length=None)
        + b"1;",
        b"a" * 65536,
    ),
    "empty lines": (b"\r\n", b"\r\n" * 32768),
}


@pytest.mark.parametrize("kind", ENDLESS)
async def test_a_head_without_end_is_refused(api: ApiProcess, kind: str) -> None:
    start, part = ENDLESS[kind]
    raw = await connect(api.port)
    pouring = asyncio.create_task(poured(raw, start, part, 1024))  # 64 MB

    worst = await slowest(api.port, pouring)

    status = await pouring
    print(f"64 MB of {kind}: answer={status} liveness_ms={worst:.0f}")
    assert status == 431
    if size(0, 1):
        assert worst < _LIVE_MS


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["X-A: " + "a" * 31_000], 401),
        (["X-A: " + "a" * 33_000], 431),
        ([f"X-{n}: a" for n in range(99)], 401),
        ([f"X-{n}: a" for n in range(101)], 431),
        ([f"X-{n}: {'a' * 700}" for n in range(50)], 431),
    ],
    ids=["31 KB", "33 KB", "100 lines", "102 lines", "35 KB in 50 lines"],
)
async def test_bounds_of_a_head(api: ApiProcess, lines: list[str], status: int) -> None:
    whole = head("/v1/billing/plans", *lines, method="GET", length=None)
    answers = []
    for step in (len(whole), 1400):  # at once, and as packets
        raw = await connect(api.port)
        # Past the bound it is refused, and what is sent then meets a closed connection.
        for start in range(0, min(len(whole), protocol.HEAD_BYTES + 1), step):
            await raw.send(whole[start : start + step])
        answers.append(await raw.status(30))
        raw.writer.close()

    assert answers == [status, status]


@pytest.mark.prove
async def test_half_sent_heads_are_closed_in_time(api: ApiProcess) -> None:
    half = head("/v1/billing/plans", "X-A: a", method="GET", length=None)[:-3]
    begun = time.monotonic()
    async with opened(api.port, [half] * 300) as slow:
        trickling = asyncio.create_task(_trickle(slow[:20]))
        worst = await slowest(api.port, asyncio.create_task(asyncio.sleep(2)))
        answers = await asyncio.gather(*(raw.status(protocol.HEAD_SECONDS + 30) for raw in slow))
        closed = await asyncio.gather(*(raw.closed(60) for raw in slow))
        trickling.cancel()
    took = time.monotonic() - begun

    heard = dict(Counter(answers))
    print(f"half_heads=300 held={closed.count(False)} answers={heard}", end=" ")
    print(f"seconds={took:.1f} liveness_ms={worst:.0f}")
    assert closed.count(False) == 0
    assert answers.count(408) >= _ALLOWED - 30  # who goes on sending may miss the answer
    if size(0, 1):
        assert took < protocol.HEAD_SECONDS + 30
        assert worst < _LIVE_MS


async def _trickle(slow: list[Raw]) -> None:
    """A byte a second is no reason to wait longer."""
    while True:
        for raw in slow:
            raw.writer.write(b"a")
        await asyncio.sleep(1)


async def test_connections_of_an_address_are_bounded(api: ApiProcess) -> None:
    async with opened(api.port, [b"G"] * (_ALLOWED + 40)) as many:
        answers = [asyncio.create_task(raw.status(60)) for raw in many]
        await until_true(lambda: _refused(answers) >= 40)
        others = await ask_often(api.port, _LIVE, 20, OTHER)
        refused = _refused(answers)
        for answer in answers:
            answer.cancel()
        await asyncio.gather(*answers, return_exceptions=True)
    async with asyncio.timeout(60):  # the server closes its ends one by one
        while (afterwards := await ask_often(api.port, _LIVE, 1, FLOODING)) != {200: 1}:
            await asyncio.sleep(0.05)

    print(f"connections={_ALLOWED + 40} refused={refused} others={dict(others)}")
    assert 40 <= refused <= 45
    assert others == {200: 20}
    assert afterwards == {200: 1}


def _refused(answers: list[asyncio.Task[int]]) -> int:
    return sum(answer.done() and answer.result() in (429, 0) for answer in answers)


@pytest.mark.prove
async def test_connections_that_say_nothing_are_closed(api: ApiProcess) -> None:
    """One after its answer, one that never asked, and the rest of a body that nobody reads."""
    used, fresh, refused = [await connect(api.port) for _ in range(3)]
    await used.send(head(_LIVE, method="GET", length=None))
    await refused.send(head("/v1/billing/plans", length=100_000))
    trickling = asyncio.create_task(_trickle([refused]))

    closed = await asyncio.gather(
        used.closed(30),
        fresh.closed(protocol.HEAD_SECONDS + 30),
        refused.closed(protocol.HEAD_SECONDS + 30),
    )
    trickling.cancel()

    assert closed == [True, True, True]


async def test_pipelined_requests_are_bounded(api: ApiProcess) -> None:
    few, many = await connect(api.port), await connect(api.port)
    one = head(_LIVE, method="GET", length=None)
    await few.send(one * 10)
    await many.send(one * 5000)

    heard = b""
    async with asyncio.timeout(30):
        while heard.count(b"HTTP/1.1 200 OK") < 10:
            heard += await few.reader.readexactly(1)
    assert await many.closed(30)


async def test_a_trailer_is_no_header(api: ApiProcess) -> None:
    """A signature after the body was not there when a proxy looked at the headers."""
    sent = signing.paystack("charge.success", {"id": 1})
    (name, signature), _ = sent.headers
    raw = await connect(api.port)
    await raw.send(
        head(f"/v1{sent.path}", "Transfer-Encoding: chunked", f"Trailer: {name}", length=None)
        + b"%x\r\n%b\r\n0\r\n" % (len(sent.body), sent.body)
        + f"{name}: {signature}\r\n\r\n".encode()
    )

    assert await raw.status(30) == 401


ODD = [
    b"GET /v1/\xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /v1/%00%ff%zz?%ff=%00&a=%zz HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /v1/billing/plans?limit=%ff&cursor=\xff HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET //v1//x HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET * HTTP/1.1\r\nHost: a\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://other.test/v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /v1/x HTTP/1.1\r\nHost: \xff\xff\r\n\r\n",
    b"GET /v1/x HTTP/1.1\r\n\r\n",
    b"GET /v1/x HTTP/1.0\r\n\r\n",
    b"GET /v1/x HTTP/9.9\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET /v1/billing/plans HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \xff\xfe\r\n\r\n",
    b"GET /v1/billing/plans HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer tha_\xc3\xa9\r\n\r\n",
    b"GET /v1/billing/plans HTTP/1.1\r\nHost: a\r\nX-Organization-Id: \xff\r\n\r\n",
    b"GET /v1/billing/plans HTTP/1.1\r\nHost: a\r\nX-Request-Id: \xff\r\nTraceparent: \xff\r\n\r\n",
    b"GET /v1/billing/plans HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \xff, ::%25zz\r\n\r\n",
    b"GET /docs HTTP/1.1\r\nHost: a\r\nAccept: \xff\r\n\r\n",
    b"GET /problems/\x7f HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /docs/..%2f..%2fapp.py HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /docs/%00 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST /v1/identity/auth/sign-in HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/identity/auth/sign-in HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/identity/auth/sign-in HTTP/1.1\r\nHost: a\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /v1/identity/auth/sign-in HTTP/1.1\r\nHost: a\r\nContent-Type: \xff\r\n"
    b"Content-Length: 2\r\n\r\n{}",
    b"POST /v1/billing/providers/%ff/callbacks HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /v1/billing/providers/paystack/callbacks HTTP/1.1\r\nHost: a\r\n"
    b"x-paystack-signature: \xff\xff\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /v1/billing/providers/stripe/callbacks HTTP/1.1\r\nHost: a\r\n"
    b"stripe-signature: t=\xb2,v1=\xff\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /v1/billing/providers/payfast/callbacks HTTP/1.1\r\nHost: a\r\n"
    b"Content-Length: 12\r\n\r\n\xff=%ff&signat",
    b"GET /v1/x HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: a\r\nSec-WebSocket-Version: 13\r\n\r\n",
    b"GET /v1/x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nmore",
    b"BREW /v1/x HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /v1/x HTTP/1.1\r\nHost : a\r\n\r\n",
    b"GET /v1/x HTTP/1.1\nHost: a\n\n",
    b"GET /v1/x HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
    b"GET /v1/x HTTP/1.1\r\nHost: a\r\nX: a\r\n folded\r\n\r\n",
]


@pytest.mark.prove
async def test_odd_bytes_are_answered_or_refused(api: ApiProcess) -> None:
    answers: Counter[int] = Counter()
    for sent in ODD * size(check=1, prove=10):
        raw = await connect(api.port)
        await raw.send(sent)
        status = await raw.status(300)
        assert status < 500, sent
        assert status != -1, sent
        answers[status] += 1
        raw.writer.close()

    print(f"odd_requests={answers.total()} 5xx=0 silent=0 answers={dict(answers)}")


METRICS = head("/metrics", method="GET", length=None)
ANSWERS = [
    head(_LIVE, method="GET", length=None),
    head("/health/ready", method="GET", length=None),
    head("/docs", method="GET", length=None),
    head("/problems", "Accept: text/html", method="GET", length=None),
    head("/problems/forbidden", method="GET", length=None),
    head("/events", method="GET", length=None),
    head("/openapi.json", method="GET", length=None),
    head("/nothing", method="GET", length=None),
    head("/v1/billing/plans", method="GET", length=None),
    head("/v1/billing/plans", method="BREW", length=None),
    head("/v1/identity/auth/sign-in", length=None),
    head("/v1/x", "X-A: " + "a" * 33_000, method="GET", length=None),
]


async def test_every_answer_forbids_guessing_its_type(api: ApiProcess) -> None:
    found: Counter[int] = Counter()
    for port, sent in [*((api.port, one) for one in ANSWERS), (api.internal_port, METRICS)]:
        raw = await connect(port)
        await raw.send(sent)
        async with asyncio.timeout(300):  # the API document is made when it is first asked for
            answer = await raw.reader.readuntil(b"\r\n\r\n")
        raw.writer.close()
        lines = [line.lower() for line in answer.split(b"\r\n")]
        found[lines.count(b"x-content-type-options: nosniff")] += 1

    print(f"answers={found.total()} without_nosniff={found[0]}")
    assert found == {1: len(ANSWERS) + 1}


@pytest.mark.prove
async def test_a_planted_server_without_bounds_is_found(
    home: Path, folder: Path, seeded: None
) -> None:
    """The same application, started by uvicorn alone."""
    env = with_own_limits(servers.up(home), 10)
    plain = ApiProcess(env, folder, name="api-plain", app="thenga.main:app")
    await asyncio.to_thread(plain.start)
    try:
        raw = await connect(plain.port)
        await raw.send(head(_LIVE, "X-A: " + "a" * 33_000, method="GET", length=None))
        status = await raw.status(30)
    finally:
        await asyncio.to_thread(plain.kill)

    assert status == 200
