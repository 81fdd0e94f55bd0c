"""Headers at the socket: trailers, odd bytes, and what every answer carries."""

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests import providers
from tests.providers import signing
from tests.suites.processes import ApiProcess, with_own_limits
from tests.suites.sizes import size
from tests.suites.sockets import connect, head
from thenga.tooling.dev import servers

_LIVE = "/health/live"
# Where nobody has prebuilt the documents, the first who asks waits until they are made.
_PATIENT = {"THENGA_REQUEST_SECONDS": "300"}


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-edge-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def env(home: Path, seeded: None) -> dict[str, str]:
    return with_own_limits(servers.up(home), 10) | providers.SETTINGS | _PATIENT


@pytest.fixture(scope="module")
async def api(env: dict[str, str], folder: Path) -> AsyncIterator[ApiProcess]:
    made = ApiProcess(env, folder, name="api-heads")
    await asyncio.to_thread(made.start)
    yield made
    await asyncio.to_thread(made.kill)


async def signed_by_a_trailer(port: int) -> list[int]:
    """The answers to a true callback with its signature after the body: at once, and in parts."""
    sent = signing.paystack("charge.success", {"id": 1})
    (name, signature), _ = sent.headers
    begin = head(
        f"/v1{sent.path}", "Transfer-Encoding: chunked", f"Trailer: {name}", length=None
    ) + b"%x\r\n%b\r\n" % (len(sent.body), sent.body)
    end = f"0\r\n{name}: {signature}\r\n\r\n".encode()
    answers = []
    for parts in ([begin + end], [begin, end]):
        raw = await connect(port)
        for part in parts:
            await raw.send(part)
            await asyncio.sleep(0.1)
        answers.append(await raw.status(60))
        raw.writer.close()
    return answers


@pytest.mark.rule("SEC-61")
async def test_a_trailer_is_no_header(api: ApiProcess) -> None:
    """A signature after the body was not there when a proxy looked at the headers."""
    assert await signed_by_a_trailer(api.port) == [401, 401]


@pytest.mark.prove
async def test_a_planted_server_that_joins_trailers_is_found(
    env: dict[str, str], folder: Path
) -> None:
    """The same application, started by uvicorn alone."""
    plain = ApiProcess(env, folder, name="api-plain", app="thenga.main:app")
    await asyncio.to_thread(plain.start)
    try:
        answers = await signed_by_a_trailer(plain.port)
    finally:
        await asyncio.to_thread(plain.kill)

    assert answers[0] == 200


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
    head("/v1/billing/plans", method="PROPFIND", length=None),
    head("/v1/identity/auth/sign-in", length=None),
]


async def test_every_answer_forbids_guessing_its_type(api: ApiProcess) -> None:
    found: Counter[int] = Counter()
    for port, sent in [*((api.port, asked) for asked in ANSWERS), (api.internal_port, METRICS)]:
        raw = await connect(port)
        await raw.send(sent)
        async with asyncio.timeout(300):  # the API document is made when it is first asked for
            answer = await raw.reader.readuntil(b"\r\n\r\n")
        raw.writer.close()
        lines = [line.lower() for line in answer.split(b"\r\n")]
        found[lines.count(b"x-content-type-options: nosniff")] += 1

    print(f"answers={found.total()} without_nosniff={found[0]}")
    assert found == {1: len(ANSWERS) + 1}
