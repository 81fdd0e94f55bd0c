"""The real Caddy with deploy/Caddyfile, in front of an API process."""

import asyncio
import re
import ssl
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.suites import http2
from tests.suites.processes import Child
from tests.suites.sockets import Raw, head
from thenga.tooling.dev import processes

ROOT = Path(__file__).resolve().parents[2]
NAME = "thenga.internal"  # of no public authority: Caddy is one itself
LIVE = "/health/live"
_SECONDS = 180.0


class Proxy(Child):
    """Caddy with the file that we ship: only its port for plain HTTP is another, and `changes`."""

    def __init__(
        self,
        folder: Path,
        upstream: int,
        *,
        name: str = "caddy",
        changes: Mapping[str, str] | None = None,
    ) -> None:
        self.upstream = upstream
        self.port, plain = processes.free_ports(2)
        data = folder / f"{name}-data"
        self.authority = data / "caddy/pki/authorities/local/root.crt"
        text = (ROOT / "deploy/Caddyfile").read_text()
        for shipped, changed in (changes or {}).items():
            assert shipped in text
            text = text.replace(shipped, changed)
        config = folder / f"{name}.Caddyfile"
        config.write_text(text.replace("{\n", f"{{\n\thttp_port {plain}\n", 1))
        env = {
            "THENGA_BASE_URL": f"https://{NAME}:{self.port}",
            "THENGA_UPSTREAM": f"127.0.0.1:{upstream}",
            "XDG_DATA_HOME": str(data),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        program = processes.find_program("caddy", Path(sys.executable).parent)
        command = [program, "run", "--config", str(config), "--adapter", "caddyfile"]
        super().__init__(name, command, env, folder)

    def start(self) -> None:
        """Start it, and wait until the API answers through it."""
        self.begin()
        self.await_ready(lambda: asyncio.run(self._answers()), _SECONDS)

    async def connect(self, *, two: bool = False) -> Raw:
        """A connection over HTTP/1, or over HTTP/2 with its preface sent."""
        trusted = ssl.create_default_context(cafile=str(self.authority))
        trusted.set_alpn_protocols(["h2"] if two else ["http/1.1"])
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=trusted, server_hostname=NAME
        )
        raw = Raw(reader, writer)
        if two:
            await raw.send(http2.PREFACE)
        return raw

    async def _answers(self) -> bool:
        try:
            raw = await self.connect()
        except (OSError, ssl.SSLError):
            return False
        try:
            await raw.send(get(LIVE))
            return await raw.status(30) == 200
        finally:
            raw.writer.close()


def get(path: str, *lines: str) -> bytes:
    """A request over HTTP/1 for the name that Caddy serves."""
    return named(head(path, *lines, method="GET", length=None))


def named(plain: bytes) -> bytes:
    return re.sub(rb"\r\nHost: [^\r]*", f"\r\nHost: {NAME}".encode(), plain, count=1)


async def answered(proxy: Proxy, sent: bytes) -> bytes:
    """All that comes over HTTP/1 until the connection is closed, or nothing comes for long."""
    raw = await proxy.connect()
    await raw.send(sent)
    found = b""
    with suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(60):
            while part := await raw.reader.read(65536):
                found += part
    raw.writer.close()
    return found


async def first_status(raw: Raw, *, two: bool, seconds: float = 120) -> int:
    """The status of the first answer; 0 for a connection closed without one, -1 for silence."""
    if not two:
        return await raw.status(seconds)
    try:
        async with asyncio.timeout(seconds):
            return await http2.status(raw.reader)
    except TimeoutError:
        return -1
