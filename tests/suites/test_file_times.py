"""Time and files: a slow line has minutes, silence has not, and a slow reader holds no place."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.suites import stores
from thenga.kernel.files.answers import attachment
from thenga.kernel.files.store import FileStore
from thenga.kernel.http import observe
from thenga.kernel.http.bounds import Bounds, stream_body
from thenga.kernel.http.observe import Edge
from thenga.kernel.process.settings import Settings

REQUEST = 1.0  # seconds that a request may take
PARTS = 6


@pytest.fixture
def settings() -> Iterator[Settings]:
    with tempfile.TemporaryDirectory() as folder:
        yield Settings(
            _env_file=None,  # type: ignore[call-arg]  # not seen by mypy
            files=folder,
            request_seconds=REQUEST,
            upload_seconds=30.0,
        )


async def slowly(pause: float) -> AsyncIterator[bytes]:
    for _ in range(PARTS):
        yield b"part"
        await asyncio.sleep(pause)


async def sent(settings: Settings, pause: float, **times: float) -> httpx2.Response:
    bounds = Bounds(process=8, tenant=8)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        chunks = stream_body(Request(scope, receive), bounds, 1 << 20, **times)
        size = sum([len(chunk) async for chunk in chunks])
        await Response(str(size))(scope, receive, send)

    edge = Edge(app, settings=settings, bounds=bounds)
    transport = httpx2.ASGITransport(app=edge)
    async with httpx2.AsyncClient(transport=transport, base_url="http://files") as client:
        return await client.put("/", content=slowly(pause))


async def test_an_upload_may_take_longer_than_a_request(settings: Settings) -> None:
    answer = await sent(settings, REQUEST / 3, seconds=30.0, idle_seconds=20.0)

    assert (answer.status_code, answer.text) == (200, str(4 * PARTS))


@pytest.mark.parametrize(
    ("pause", "times"),
    [
        (20.0, {"seconds": 30.0, "idle_seconds": 0.1}),
        (0.2, {"seconds": 0.5, "idle_seconds": 20.0}),
    ],
    ids=["silence", "too long in all"],
)
async def test_a_stalled_upload_is_ended(
    settings: Settings, pause: float, times: dict[str, float]
) -> None:
    async with asyncio.timeout(19):
        answer = await sent(settings, pause, **times)

    assert (answer.status_code, answer.json()["code"]) == (408, "upload-timeout")


async def taken(settings: Settings) -> tuple[int, set[tuple[int, int]]]:
    """Bytes that a slow reader got, and the places it held meanwhile: of requests, of streams."""
    store, bounds = FileStore(settings), Bounds(process=8, tenant=8)
    kept = await store.put("probe", stores.parts(bytes(PARTS * 65_536)), most_bytes=1 << 20)
    got, held = 0, set[tuple[int, int]]()

    async def send(message: Any) -> None:
        nonlocal got
        if message["type"] == "http.response.body":
            held.add((bounds.in_flight, bounds.streams))
            await asyncio.sleep(REQUEST / 4)
            got += len(message.get("body", b""))

    edge = Edge(attachment(store, kept, "paper.bin"), settings=settings, bounds=bounds)
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": None}
    await edge(scope, stores.parts(b"").__anext__, send)  # type: ignore[arg-type]  # never asked
    return got, held


async def test_a_slow_reader_gets_the_whole_file_and_holds_no_place(settings: Settings) -> None:
    got, held = await taken(settings)

    assert (got, held) == (PARTS * 65_536, {(0, 1)})


async def test_a_file_bound_by_the_time_of_a_request_is_found(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observe._Answer, "_become_stream", lambda self, until: None)

    got, held = await taken(settings)

    assert got < PARTS * 65_536
    assert held == {(1, 0)}
