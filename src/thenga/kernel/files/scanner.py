"""The scanner: ClamAV over its own protocol, believed only after it has passed a test of ours.

A scanner with limits that are too low says OK to what it did not look at. So it must find EICAR,
also as the last member of the longest file that we take; without a pass within the hour it is asked
for nothing else (docs/decisions/0027).
"""

import asyncio
import tempfile
import zipfile
from collections.abc import AsyncIterator
from contextlib import suppress
from enum import StrEnum
from time import monotonic
from typing import IO, NamedTuple

import structlog
from prometheus_client import Gauge

from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.process.settings import Settings

log = structlog.get_logger()

FRAME_BYTES = 64 * 1024
# In two parts, so that no scanner of a developer's machine takes this source for a virus.
EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}" + rb"$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"
_PASSED_SECONDS = 3600.0
_WATCH_SECONDS = 60.0
_AGAIN_SECONDS = 5.0  # after a failed test, so that a scanner which restarts is found again soon
_MOST_ANSWER = 4096
_UNSCANNABLE = ("Heuristics.Limits.Exceeded", "Heuristics.Encrypted")
_FIT = Gauge(
    "thenga_scanner_fit", "Whether the scanner passed its last test.", multiprocess_mode="min"
)


class Outcome(StrEnum):
    """What a scanner says of a file; what it could not look into is not clean."""

    CLEAN = "clean"
    INFECTED = "infected"
    UNSCANNABLE = "unscannable"


class Verdict(NamedTuple):
    """The outcome, and what was found."""

    outcome: Outcome
    found: str | None = None


class Scanner:
    """`host.scanner`; silence and a failed test are `DependencyUnavailable`, never a verdict."""

    def __init__(self, settings: Settings) -> None:
        self._address = settings.scanner
        self._longest = settings.upload_bytes
        self._seconds = settings.scanner_seconds
        self._passed: float | None = None
        self._failed: float | None = None
        self._testing = asyncio.Lock()

    @property
    def known(self) -> bool:
        return bool(self._address)

    async def scan(self, chunks: AsyncIterator[bytes]) -> Verdict:
        """What the scanner says of these bytes, once it has shown that it can be believed."""
        await self.check()
        return await self._ask(chunks)

    async def check(self) -> None:
        """Pass the test, unless that was done within the hour; else nothing is scanned."""
        async with self._testing:
            now = monotonic()
            if self._passed is not None and now - self._passed < _PASSED_SECONDS:
                return
            if self._failed is not None and now - self._failed < _AGAIN_SECONDS:
                raise _unfit("its last test failed")
            self._passed, self._failed = None, now
            _FIT.set(0)
            await self._test()
            self._passed, self._failed = monotonic(), None
            _FIT.set(1)

    async def _test(self) -> None:
        harmless = await self._ask(_once(b"A file with nothing in it."))
        plain = await self._ask(_once(EICAR))
        with tempfile.TemporaryFile() as file:
            await asyncio.to_thread(_write_nested, file, self._longest)
            nested = await self._ask(_chunks(file))
        found = (harmless.outcome, plain.outcome, nested.outcome)
        if found != (Outcome.CLEAN, Outcome.INFECTED, Outcome.INFECTED):
            log.error("files.scanner.unfit", harmless=found[0], plain=found[1], nested=found[2])
            raise _unfit("it does not find what it must")

    async def _ask(self, chunks: AsyncIterator[bytes]) -> Verdict:
        """One stream; failures of the scanner are `DependencyUnavailable`, others pass through."""
        host, _, port = self._address.rpartition(":")
        if not port.isdigit():
            raise _unfit("THENGA_SCANNER names no host:port")
        try:
            async with asyncio.timeout(self._seconds):
                reader, writer = await asyncio.open_connection(host, int(port))
        except (OSError, TimeoutError):
            raise _unfit("it does not answer") from None
        try:
            return _read_verdict(await self._exchange(reader, writer, chunks))
        finally:
            writer.close()

    async def _exchange(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        chunks: AsyncIterator[bytes],
    ) -> bytes:
        """Send frame by frame; a scanner that has heard enough answers before the end."""
        try:
            await self._send(writer, b"zINSTREAM\0")
            async for frame in _frames(chunks):
                await self._send(writer, len(frame).to_bytes(4) + frame)
            await self._send(writer, bytes(4))
        except _Broken:
            pass  # it may have said why
        try:
            async with asyncio.timeout(self._seconds):
                answer = await reader.readuntil(b"\0")
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise _unfit("it broke off") from None
        return answer[:_MOST_ANSWER]

    async def _send(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(data)
        try:
            async with asyncio.timeout(self._seconds):
                await writer.drain()
        except (OSError, TimeoutError):
            raise _Broken from None


async def watch(scanner: Scanner, stop: asyncio.Event) -> None:
    """The test at the start of a worker and each hour; an unfit scanner is told each minute."""
    while scanner.known and not stop.is_set():
        try:
            await scanner.check()
        except DependencyUnavailable as unfit:
            log.warning("files.scanner.not_believed", reason=unfit.detail)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _WATCH_SECONDS)


class _Broken(Exception):  # never leaves this module
    """The scanner takes no more of a stream."""


def _read_verdict(answer: bytes) -> Verdict:
    """`stream: OK`, `stream: NAME FOUND`, or a reason and `ERROR`."""
    text = answer.rstrip(b"\0").decode("utf-8", "replace").removeprefix("stream: ").strip()
    if text == "OK":
        return Verdict(Outcome.CLEAN)
    found, _, word = text.rpartition(" ")
    if word == "FOUND" and not found.startswith(_UNSCANNABLE):
        return Verdict(Outcome.INFECTED, found)
    if word in ("FOUND", "ERROR"):
        return Verdict(Outcome.UNSCANNABLE, found)
    raise _unfit("it answers what we do not know")


def _unfit(reason: str) -> DependencyUnavailable:
    return DependencyUnavailable(
        f"The malware scanner is not usable: {reason}.", dependency="scanner"
    )


def _write_nested(file: IO[bytes], longest: int) -> None:
    """A stored ZIP about as long as the longest file that we take; EICAR is its last member."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        with archive.open("first", "w") as first:
            for _ in range(max(longest - 1024, 0) // FRAME_BYTES):
                first.write(bytes(FRAME_BYTES))
        archive.writestr("last", EICAR)
    file.seek(0)


async def _frames(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        for begin in range(0, len(chunk), FRAME_BYTES):
            yield chunk[begin : begin + FRAME_BYTES]


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := file.read(FRAME_BYTES):
        yield chunk
