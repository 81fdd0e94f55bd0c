"""The connection: how long and how large the head of a request may be (SEC-61).

uvicorn's own protocol has no such bounds, and its parser joins the parts of a header again with
each part that arrives: one header of 64 MB took 6 seconds of the event loop.
"""

from asyncio import TimerHandle, Transport
from collections import Counter
from typing import Any, ClassVar

from uuid_utils import uuid7
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from thenga.kernel.errors import (
    HeadersTooLarge,
    MalformedRequest,
    Problem,
    RateLimited,
    UploadTimeout,
)
from thenga.kernel.http.observe import Proxies
from thenga.kernel.http.problems import render
from thenga.kernel.settings import Settings
from thenga.kernel.values import networks

HEAD_BYTES = 32 * 1024
HEAD_LINES = 100
HEAD_SECONDS = 10.0
PIPELINED = 16  # requests that wait on one connection for the answer before them


class Refused(Exception):
    """Ends the parsing of a request that was refused."""


class Listener(HttpToolsProtocol):
    """One connection; `listener` makes the class of a listener with its bounds."""

    most: ClassVar[int]
    proxies: ClassVar[Proxies]
    base_url: ClassVar[str]
    addresses: ClassVar[Counter[str]]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._address: str | None = None
        self._clock: TimerHandle | None = None
        self._in_head = True
        self._piece = 0  # bytes that the parser is given at the moment
        self._head = 0  # bytes of this head before them, without the piece in which it began
        self._before = 0  # bytes of that piece, which may belong to the request before
        self._overhead = 0  # bytes since a body went on: chunk extensions and trailers

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as above it
        super().connection_made(transport)
        if self.client is not None and not self.proxies.trusts(self.client[0]):
            self._address = networks.counted(self.client[0])[0]
            self.addresses[self._address] += 1
            if self.addresses[self._address] > self.most:
                self._refuse(RateLimited("This address has too many connections."))
                return
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        if self._address is not None:
            self.addresses[self._address] -= 1
            if not self.addresses[self._address]:
                del self.addresses[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if len(data) <= HEAD_BYTES:
            self._feed(data)
            return
        for start in range(0, len(data), HEAD_BYTES):
            if self.transport.is_closing():
                return
            self._feed(data[start : start + HEAD_BYTES])

    def _feed(self, piece: bytes) -> None:
        size = self._piece = len(piece)
        super().data_received(piece)
        if self._in_head:
            self._head += size
            if self._head > HEAD_BYTES:
                self._refuse(HeadersTooLarge())
            elif self._clock is None and (self.cycle is None or self.cycle.response_complete):
                self._start_clock()
        else:
            self._overhead += size
            if self._overhead > HEAD_BYTES:
                self._refuse(HeadersTooLarge())

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_clock()
        at_most = self._head + self._piece + self._before
        if len(self.headers) > HEAD_LINES or (at_most > HEAD_BYTES < self._head_size()):
            self._refuse(HeadersTooLarge())
            raise Refused
        self._overhead = -self._piece
        super().on_headers_complete()
        self.headers = []  # trailers are parsed like headers, and must not join them
        if self.expect_100_continue and self.cycle is not None:
            # A refusal comes before the body is asked for, and nobody knows whether it is sent.
            self.cycle.keep_alive = False
        if len(self.pipeline) > PIPELINED:
            self.transport.close()
            raise Refused

    def on_body(self, body: bytes) -> None:
        self._overhead = -self._piece
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_head = True
        self._head, self._before = -self._piece, self._piece
        self._stop_clock()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._in_head and self._clock is None:
            self._start_clock()  # the rest of a body that nobody reads has to come in time, too

    def send_400_response(self, msg: str) -> None:
        if not self.transport.is_closing():
            self._refuse(MalformedRequest("This is not a request of HTTP/1.1."))

    def _head_size(self) -> int:
        """As it is sent, with a colon, a blank and a line end for each header."""
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _start_clock(self) -> None:
        self._clock = self.loop.call_later(HEAD_SECONDS, self._late)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _late(self) -> None:
        self._clock = None
        if self.cycle is not None and not self.cycle.response_complete:
            return  # the request under way has its own time limit
        if not self._in_head or not self._head:
            self.transport.close()  # answered already, or nothing was asked
        else:
            self._refuse(UploadTimeout(f"The head took longer than {HEAD_SECONDS:g} seconds."))

    def _refuse(self, problem: Problem) -> None:
        """Answer, unless another answer is under way, and close."""
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(self._answer(problem))
        self.transport.close()

    def _answer(self, problem: Problem) -> bytes:
        number = str(uuid7())
        told = render(problem, request_id=number, instance="", base_url=self.base_url)
        more = [(b"x-request-id", number.encode()), (b"x-content-type-options", b"nosniff")]
        headers = [*told.raw_headers, *more, (b"connection", b"close")]
        lines = [name + b": " + value + b"\r\n" for name, value in headers]
        return b"".join([STATUS_LINE[problem.status], *lines, b"\r\n", bytes(told.body)])


def listener(settings: Settings, *, most: int) -> type[Listener]:
    """The protocol of one listener, which counts its own connections."""
    bounds = {
        "most": most,
        "proxies": Proxies(settings.trusted_proxies),
        "base_url": settings.base_url,
        "addresses": Counter[str](),
    }
    return type("Listener", (Listener,), bounds)
