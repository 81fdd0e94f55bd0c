"""Raw connections to a listener, for requests that no client library would send."""

import asyncio
import http.client
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

FLOODING = "127.0.0.1"
OTHER = "127.0.0.2"  # all of 127.0.0.0/8 is this machine: a second client address


@dataclass
class Raw:
    """One open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def status(self, seconds: float) -> int:
        """The status of the next answer; 0 for a connection closed without one, -1 for silence."""
        try:
            async with asyncio.timeout(seconds):
                line = await self.reader.readline()
        except TimeoutError:
            return -1
        except ConnectionError:
            return 0
        return int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else 0

    async def closed(self, seconds: float) -> bool:
        """Whether the server ends the connection within that time."""
        try:
            async with asyncio.timeout(seconds):
                while await self.reader.read(65536):
                    pass
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        return True

    async def send(self, content: bytes) -> None:
        self.writer.write(content)
        await self.writer.drain()


async def connect(port: int, address: str = FLOODING) -> Raw:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    return Raw(reader, writer)


@asynccontextmanager
async def opened(port: int, sent: Sequence[bytes], address: str = FLOODING) -> AsyncIterator[list]:
    """A connection for each text, which is sent and followed by silence."""
    made = await asyncio.gather(*(connect(port, address) for _ in sent))
    try:
        for raw, content in zip(made, sent, strict=True):
            raw.writer.write(content)
        yield made
    finally:
        for raw in made:
            raw.writer.transport.abort()


def head(path: str, *lines: str, method: str = "POST", length: int | None = 100) -> bytes:
    """The head of a request, and a first byte of its body where one is announced."""
    more = [] if length is None else [f"Content-Length: {length}"]
    every = [f"{method} {path} HTTP/1.1", "Host: thenga.test", *more, *lines]
    return "\r\n".join([*every, "", ""]).encode() + (b"{" if length else b"")


def ask(port: int, path: str, address: str = OTHER) -> tuple[int, float]:
    """One request on a connection of its own: its status and the milliseconds it took."""
    connection = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=120, source_address=(address, 0)
    )
    begun = time.perf_counter()
    try:
        connection.request("GET", path)
        return connection.getresponse().status, (time.perf_counter() - begun) * 1000
    finally:
        connection.close()


async def ask_often(port: int, path: str, times: int, address: str = OTHER) -> Counter[int]:
    """The statuses of requests sent one after the other."""
    asked = [await asyncio.to_thread(ask, port, path, address) for _ in range(times)]
    return Counter(status for status, _ in asked)
