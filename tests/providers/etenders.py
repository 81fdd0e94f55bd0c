"""National Treasury's eTenders on loopback over TLS, in its true shape and with its faults.

Names lead to it as on the internet: `guarded` looks a name up, sees a public address and connects
to exactly that one, and the connection ends here. Any other connection on port 443 trips the wire.
"""

import asyncio
import itertools
import json
import random
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, datetime
from email.utils import format_datetime
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.providers.leading import Lead
from tests.suites.internet import PORTAL, PUBLIC, SITE, certificates
from thenga.kernel.outside import outbound

FEED = f"https://ocds-api.{SITE}/api/OCDSReleases"
FILES = f"files.{SITE}"
_SHORT = 13  # rows of a false short page


@dataclass
class Etenders:
    """What it has published, and which of its faults it shows today."""

    now: Callable[[], datetime]
    releases: dict[str, dict[str, Any]] = field(default_factory=dict)
    unstable: bool = False  # other rows on every page, and short pages before the end
    dead: bool = False  # 503 to everything
    empty: bool = False  # `{}` with 200
    html: bool = False  # a page for people
    silent: bool = False  # takes requests and never answers
    retry_after: str | None = None  # 429 with this header
    broken: tuple[str, ...] = ()  # ocids that are sent malformed
    files: dict[str, tuple[int, str, bytes]] = field(default_factory=dict)
    asked: list[tuple[datetime, str]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    in_flight: int = 0
    most_in_flight: int = 0
    tripped: int = 0
    last_sent: bytes = b""
    dice: random.Random = field(default_factory=lambda: random.Random(344))

    def publish(self, *releases: dict[str, Any]) -> None:
        """Put releases up, each in place of an older one with its ocid."""
        self.releases |= {release["ocid"]: deepcopy(release) for release in releases}

    def package(self, query: dict[str, list[str]]) -> dict[str, Any]:
        """The answer of the list call."""
        first, last = (date.fromisoformat(query[name][0]) for name in ("dateFrom", "dateTo"))
        number, size = int(query["PageNumber"][0]), int(query["PageSize"][0])
        found = [r for r in self.releases.values() if first.isoformat() <= r["date"][:10]]
        found = [r for r in found if r["date"][:10] <= last.isoformat()]
        shown, has_next = self._page(found, number, size)
        package: dict[str, Any] = {
            "uri": FEED,
            "version": "1.1",
            "publishedDate": f"{self.now():%Y-%m-%dT%H:%M:%SZ}",
            "publisher": {"name": "National Treasury", "uri": "https://www.etenders.gov.za"},
            "license": "https://opendatacommons.org/licenses/pddl/1-0/",
            "releases": [self._sent(release) for release in shown],
        }
        if has_next:
            package["links"] = {"next": f"{FEED}?PageNumber={number + 1}"}
        return package

    def _page(
        self, found: list[dict[str, Any]], number: int, size: int
    ) -> tuple[list[dict[str, Any]], bool]:
        begin = (number - 1) * size
        if not self.unstable or len(found) < size:
            return found[begin : begin + size], len(found) > begin + size
        last = -(-len(found) // _SHORT)
        return self.dice.sample(found, size if number == 1 else _SHORT), number < last

    def _sent(self, release: dict[str, Any]) -> dict[str, Any]:
        if release["ocid"] not in self.broken:
            return release
        return release | {"tender": release["tender"] | {"status": "unheard-of"}}

    def answer(self, target: str, host: str) -> tuple[int, str, dict[str, str], bytes]:
        """Status, type, further headers and bytes of an answer."""
        path = urlsplit(target)
        if host.startswith(("files.", "www.")):
            status, kind, content = self.files.get(path.path, (404, "text/plain", b"not here"))
            return status, kind, {}, content
        if self.dead:
            return 503, "text/plain", {}, b"down"
        if self.retry_after is not None:
            return 429, "text/plain", {"Retry-After": self.retry_after}, b"slow down"
        if self.html:
            return 200, "text/html", {}, b"<!doctype html><title>Maintenance</title>"
        answer = {} if self.empty else self.package(parse_qs(path.query))
        self.last_sent = json.dumps(answer, indent=1).encode()
        return 200, "application/json", {}, self.last_sent

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request on one connection."""
        with suppress(OSError, EOFError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            try:
                await self._answer(head, writer)
            finally:
                self.in_flight -= 1
        writer.close()

    async def _answer(self, head: str, writer: asyncio.StreamWriter) -> None:
        target = head.split()[1]
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        named = {name.lower(): value for name, value in headers.items()}
        host = named["host"]
        self.agents.add(named["user-agent"])
        self.asked.append((self.now(), target))
        while self.silent:
            await asyncio.sleep(0.01)
        status, kind, more, content = self.answer(target, host)
        lines = [
            f"HTTP/1.1 {status} x",
            f"Date: {format_datetime(self.now())}",
            f"Content-Type: {kind}",
            f"Content-Length: {len(content)}",
            "Connection: close",
            *(f"{name}: {value}" for name, value in more.items()),
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()

    async def trip(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Somebody was called who must not be."""
        self.tripped += 1
        writer.close()

    @property
    def requests(self) -> list[tuple[datetime, str]]:
        """What was asked of the feed, and when by the test's clock."""
        return [(at, target) for at, target in self.asked if "OCDSReleases" in target]

    @property
    def least_gap_ms(self) -> int:
        """The shortest time between two requests to the feed."""
        times = [at for at, _ in self.requests]
        gaps = [b - a for a, b in itertools.pairwise(times)]
        return min((round(gap.total_seconds() * 1000) for gap in gaps), default=0)


@asynccontextmanager
async def etenders(
    monkeypatch: pytest.MonkeyPatch, folder: Path, now: Callable[[], datetime]
) -> AsyncIterator[Etenders]:
    """eTenders for this event loop, for as long as the block lasts."""
    made = Etenders(now)
    async with _served(made, folder) as (lead, trusting):
        with led_there(monkeypatch, lead, trusting):
            yield made


@contextmanager
def etenders_apart(folder: Path, now: Callable[[], datetime]) -> Iterator[tuple[Etenders, Lead]]:
    """eTenders for other processes, in a thread of its own."""
    made, loop = Etenders(now), asyncio.new_event_loop()
    served = _served(made, folder)
    thread = Thread(target=loop.run_forever)
    thread.start()

    def wait(what: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what, loop).result(60)

    try:
        lead, _ = wait(served.__aenter__())
        yield made, lead
        wait(served.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@asynccontextmanager
async def _served(made: Etenders, folder: Path) -> AsyncIterator[tuple[Lead, ssl.SSLContext]]:
    serving, trusting = certificates(folder)
    site = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=serving)
    wire = await asyncio.start_server(made.trip, "127.0.0.1", 0)
    ports = (server.sockets[0].getsockname()[1] for server in (site, wire))
    lead = Lead((SITE, PORTAL), PUBLIC[0], *ports, str(folder / "site.pem"))
    yield lead, trusting
    made.silent = False
    site.close()
    wire.close()
    async with asyncio.timeout(60):
        while made.in_flight:
            await asyncio.sleep(0.01)


@contextmanager
def led_there(
    monkeypatch: pytest.MonkeyPatch, lead: Lead, trusting: ssl.SSLContext
) -> Iterator[None]:
    """Let names and connections of this event loop lead to the site and to the wire."""
    loop = asyncio.get_running_loop()
    look, connect = lead.through(loop.getaddrinfo, loop.create_connection)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "getaddrinfo", look)
        patch.setattr(loop, "create_connection", connect)
        patch.setattr(outbound, "tls", lambda **_: trusting)
        yield
