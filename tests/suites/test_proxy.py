"""The API behind the real Caddy with deploy/Caddyfile: TLS, large heads, slow clients (SEC-61)."""

import asyncio
import shutil
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.suites.processes import ApiProcess, Child, with_own_limits
from tests.suites.sockets import Raw, head
from thenga.tooling.dev import processes, servers

ROOT = Path(__file__).resolve().parents[2]
NAME = "thenga.internal"  # of no public authority: Caddy is one itself
_LIVE = "/health/live"
_SECONDS = 180.0

pytestmark = [pytest.mark.rule("SEC-61"), pytest.mark.domains("identity")]


class Proxy(Child):
    """Caddy with the file that we ship; only its port for plain HTTP is another."""

    def __init__(self, folder: Path, upstream: int, *, most: str = "28KiB") -> None:
        self.upstream = upstream
        self.port, plain = processes.free_ports(2)
        self.authority = folder / "data/caddy/pki/authorities/local/root.crt"
        text = (ROOT / "deploy/Caddyfile").read_text()
        assert "max_header_size 28KiB" in text
        config = folder / "Caddyfile"
        text = text.replace("{\n", f"{{\n\thttp_port {plain}\n", 1)
        config.write_text(text.replace("28KiB", most))
        env = {
            "THENGA_BASE_URL": f"https://{NAME}:{self.port}",
            "THENGA_UPSTREAM": f"127.0.0.1:{upstream}",
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        program = processes.find_program("caddy", Path(sys.executable).parent)
        command = [program, "run", "--config", str(config), "--adapter", "caddyfile"]
        super().__init__("caddy", command, env, folder)

    async def connect(self) -> Raw:
        trusted = ssl.create_default_context(cafile=str(self.authority))
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=trusted, server_hostname=NAME
        )
        return Raw(reader, writer)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="thenga-proxy-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
async def proxy(home: Path, folder: Path, seeded: None) -> AsyncIterator[Proxy]:
    env = with_own_limits(servers.up(home), 10) | {"THENGA_TRUSTED_PROXIES": "127.0.0.1"}
    api = ApiProcess(env, folder, name="api-behind")
    made = Proxy(folder, api.port)
    await asyncio.to_thread(api.start)
    try:
        made.begin()
        await asyncio.to_thread(made.await_ready, lambda: _answers(made), _SECONDS)
        yield made
    finally:
        await asyncio.to_thread(made.kill)
        await asyncio.to_thread(api.kill)


def _answers(proxy: Proxy) -> bool:
    async def ask() -> int:
        raw = await proxy.connect()
        try:
            await raw.send(_get(_LIVE))
            return await raw.status(30)
        finally:
            raw.writer.close()

    try:
        return asyncio.run(ask()) == 200
    except (OSError, ssl.SSLError):
        return False


def _get(path: str, *lines: str) -> bytes:
    plain = head(path, *lines, method="GET", length=None)
    return plain.replace(plain.split(b"\r\n")[1], f"Host: {NAME}".encode(), 1)


async def answered(proxy: Proxy, sent: bytes) -> bytes:
    """All that comes until the connection is closed, or nothing comes for long."""
    raw = await proxy.connect()
    await raw.send(sent)
    found = b""
    with suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(60):
            while part := await raw.reader.read(65536):
                found += part
    return found


def large(length: int) -> bytes:
    return _get(_LIVE, "Connection: close", "X-A: " + "a" * length)


async def test_a_head_of_27_kb_reaches_the_api(proxy: Proxy) -> None:
    answer = await answered(proxy, large(27_000))

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b'"live"' in answer


async def test_a_head_of_33_kb_ends_at_the_proxy(proxy: Proxy) -> None:
    answer = await answered(proxy, large(33_000))

    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"problem" not in answer


async def test_a_planted_proxy_that_takes_more_is_found(proxy: Proxy, tmp_path: Path) -> None:
    """Its large heads come to the API, which refuses them with a problem."""
    unbounded = Proxy(tmp_path, proxy.upstream, most="1MiB")
    unbounded.begin()
    try:
        await asyncio.to_thread(unbounded.await_ready, lambda: _answers(unbounded), _SECONDS)
        answer = await answered(unbounded, large(33_000))
    finally:
        await asyncio.to_thread(unbounded.kill)

    assert b"application/problem+json" in answer


async def test_half_a_head_is_closed_and_others_are_answered(proxy: Proxy) -> None:
    half = [await proxy.connect() for _ in range(20)]
    for raw in half:
        await raw.send(_get(_LIVE, "X-A: a")[:-3])
    other = await proxy.connect()
    await other.send(_get(_LIVE))
    status = await other.status(60)

    closed = await asyncio.gather(*(raw.closed(120) for raw in half))

    print(f"\nhalf_heads={len(half)} closed={sum(closed)} other={status}")
    assert status == 200
    assert all(closed)


async def test_a_name_that_is_not_ours_is_not_served(proxy: Proxy) -> None:
    sent = _get(_LIVE, "Connection: close").replace(NAME.encode(), b"other.internal")

    assert b'"live"' not in await answered(proxy, sent)
