"""The door of ports asked over the wire: raw requests to a real server, most of them forged."""

import asyncio
import random
import socket
from abc import abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette

from thenga.kernel.declare.port import Port
from thenga.kernel.http.port_routes import BODY_BYTES, routes
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.ports.once import WINDOW
from thenga.kernel.ports.remote import digest_of, path_of, signature

SECRET = bytes(range(32))
NOON = datetime(2031, 6, 30, 12, tzinfo=UTC)
BODY = b'{"arguments":{"key":"k"}}'
FIGURES: Counter[str] = Counter()


class Counters(Port, name="probe.counters", timeout=20.0):
    @abstractmethod
    async def record(self, *, key: str) -> int: ...

    @abstractmethod
    async def stall(self) -> None: ...


class LocalCounters(Counters):
    async def record(self, *, key: str) -> int:
        FIGURES["port_calls"] += 1
        return len(key)

    async def stall(self) -> None:
        await asyncio.Event().wait()


@pytest.fixture(scope="module")
async def address() -> AsyncIterator[str]:
    bindings = Bindings()
    bindings.bind(Counters, LocalCounters())
    app = Starlette(routes=routes(bindings, [Counters], SECRET, now=lambda: NOON))
    # Without the protocol named, asyncio leaves Nagle on and each answer takes 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, lifespan="off", log_level="critical", timeout_graceful_shutdown=1)
    )
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:  # uvicorn offers no event to wait for
        await asyncio.sleep(0.005)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await running


@pytest.fixture(scope="module")
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def figures(pytestconfig: pytest.Config) -> Iterator[None]:
    yield
    capture: Any = pytestconfig.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\nforged={FIGURES['forged']} accepted_forged={FIGURES['accepted_forged']}")


Headers = dict[str, str | bytes]
Change = Callable[[Headers], object]
Post = Callable[..., Awaitable[httpx2.Response]]


@pytest.fixture
def post(address: str, client: httpx2.AsyncClient) -> Post:
    """Signs well, then changes what the test wants changed."""

    async def post(
        body: bytes = BODY,
        *,
        port: str = "probe.counters",
        method: str = "record",
        key: bytes = SECRET,
        at: datetime = NOON,
        change: Change = lambda headers: None,
        nonce: str | None = None,
        sent_body: bytes | None = None,
        sent_method: str | None = None,
    ) -> httpx2.Response:
        timestamp, actor = str(int(at.timestamp())), '{"id":"a"}'
        path = path_of(port, method)
        named = {"timestamp": timestamp, "nonce": nonce or token_hex(16), "path": path}
        digest = digest_of(body)
        sealed = signature(key, actor=actor, digest=digest, **named)
        headers: Headers = {
            "Thenga-Actor": actor,
            "Thenga-Timestamp": timestamp,
            "Thenga-Nonce": named["nonce"],
            "Thenga-Digest": digest,
            "Thenga-Signature": sealed,
        }
        change(headers)
        return await client.post(
            address + path_of(port, sent_method or method),
            content=sent_body or body,
            headers={name.encode(): _bytes(value) for name, value in headers.items()},
        )

    return post


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


def without(name: str) -> Change:
    return lambda headers: headers.pop(name)


def replaced(name: str, value: str | bytes) -> Change:
    return lambda headers: headers.update({name: value})


SIGNED = ["Thenga-Signature", "Thenga-Actor", "Thenga-Timestamp", "Thenga-Nonce"]
FORGERIES: dict[str, dict[str, Any]] = {
    "no signature": {"change": without("Thenga-Signature")},
    "empty signature": {"change": replaced("Thenga-Signature", "")},
    "signature beyond ASCII": {"change": replaced("Thenga-Signature", b"\xe9" * 64)},
    "other secret": {"key": bytes(32)},
    "empty secret": {"key": b""},
    "no time": {"change": without("Thenga-Timestamp")},
    "odd time": {"change": replaced("Thenga-Timestamp", "1e9")},
    "time beyond ASCII": {"change": replaced("Thenga-Timestamp", b"\xb2")},
    "very long time": {"change": replaced("Thenga-Timestamp", "9" * 5000)},
    "too old": {"at": NOON - timedelta(seconds=WINDOW + 1)},
    "too new": {"at": NOON + timedelta(seconds=WINDOW + 1)},
    "no nonce": {"change": without("Thenga-Nonce")},
    "other nonce": {"change": replaced("Thenga-Nonce", "0" * 32)},
    "nonce of another form": {"nonce": "short"},
    "no digest": {"change": without("Thenga-Digest")},
    "digest of another body": {"change": replaced("Thenga-Digest", digest_of(b"{}"))},
    "other time": {"at": NOON, "change": replaced("Thenga-Timestamp", "1940587201")},
    "other actor": {"change": replaced("Thenga-Actor", '{"id":"b"}')},
    "no actor": {"change": without("Thenga-Actor")},
    "other body": {"sent_body": b'{"arguments":{"key":"l"}}'},
    "same body spaced otherwise": {"sent_body": b'{"arguments": {"key":"k"}}'},
    "other method": {"sent_method": "stall"},
    "unknown method": {"sent_method": "absent"},
}


@pytest.mark.parametrize("name", FORGERIES)
async def test_what_we_did_not_sign_is_refused(post: Post, name: str) -> None:
    before = FIGURES["port_calls"]

    response = await post(**FORGERIES[name])

    FIGURES["forged"] += 1
    FIGURES["accepted_forged"] += FIGURES["port_calls"] - before
    assert response.status_code == 401
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == "unauthenticated"
    assert FIGURES["port_calls"] == before


async def test_one_changed_character_anywhere_is_refused(post: Post) -> None:
    chance, before = random.Random(31), FIGURES["port_calls"]
    statuses: Counter[int] = Counter()

    for _ in range(500):
        name = chance.choice(SIGNED)
        place = chance.randrange(10)

        def change(headers: Headers, name: str = name, place: int = place) -> None:
            text = str(headers[name])
            other = "1" if text[place] != "1" else "2"
            headers[name] = text[:place] + other + text[place + 1 :]

        statuses[(await post(change=change)).status_code] += 1

    FIGURES["forged"] += statuses.total()
    FIGURES["accepted_forged"] += FIGURES["port_calls"] - before
    assert statuses == {401: 500}
    assert FIGURES["port_calls"] == before


@pytest.mark.parametrize("seconds", [-WINDOW, 0, WINDOW])
async def test_a_signature_lives_one_minute_either_way(post: Post, seconds: int) -> None:
    response = await post(at=NOON + timedelta(seconds=seconds))

    assert (response.status_code, response.json()) == (200, 1)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"arguments":{"key":5}}', 422),
        (b'{"arguments":{}}', 422),
        (b'{"arguments":{"key":"k","more":1}}', 422),
        (b'{"arguments":{"key":"k"},"more":1}', 422),
        (b"[]", 422),
        (b"{", 400),
        (b'{"arguments":{"key":"\xff"}}', 400),
        (b'{"arguments":{"key":"' + b"x" * BODY_BYTES + b'"}}', 413),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_wrong_arguments_are_refused(post: Post, body: bytes, status: int) -> None:
    before = FIGURES["port_calls"]

    response = await post(body)

    assert response.status_code == response.json()["status"] == status
    assert FIGURES["port_calls"] == before


@pytest.mark.parametrize(
    ("port", "method"),
    [
        ("probe.counters", "absent"),
        ("probe.counters", "__init__"),
        ("probe.absent", "record"),
    ],
)
async def test_what_is_not_served_is_not_found(post: Post, port: str, method: str) -> None:
    response = await post(port=port, method=method)

    assert (response.status_code, response.json()["code"]) == (404, "not-found")


async def test_the_deadline_of_the_caller_cuts_the_call_short(post: Post) -> None:
    async with asyncio.timeout(60):  # `stall` never answers
        response = await post(
            b'{"arguments":{}}', method="stall", change=replaced("Thenga-Deadline-Ms", "50")
        )

    assert response.status_code == 503
    assert response.json()["dependency"] == "probe.counters"


async def test_a_deadline_that_is_no_number_is_refused(post: Post) -> None:
    response = await post(change=replaced("Thenga-Deadline-Ms", "soon"))

    assert response.status_code == 400


async def test_a_call_is_answered_once(post: Post) -> None:
    before, nonce = FIGURES["port_calls"], token_hex(16)

    answers = [(await post(nonce=nonce)).status_code for _ in range(20)]

    print(f"replays=19 answered_again={answers.count(200) - 1}")
    assert answers == [200] + [401] * 19
    assert FIGURES["port_calls"] == before + 1


async def test_a_body_is_not_awaited_for_a_stranger(address: str) -> None:
    """The answer comes on the headers alone: of the announced body nothing is ever sent."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    path = path_of("probe.counters", "record")
    writer.write(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n".encode())

    async with asyncio.timeout(30):
        line = await reader.readline()

    writer.close()
    assert line.split()[1] == b"401"
