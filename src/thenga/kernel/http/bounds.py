"""How much work is taken at once, and how much of a body is read.

Over a bound the answer is no at once: a queue without an end turns a peak into an outage. A request
that waits for its body holds no place among the requests, only one of its address (SEC-60).
"""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

from prometheus_client import Counter
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

from thenga.kernel.errors import (
    MalformedRequest,
    Overloaded,
    RateLimited,
    TooLarge,
    UploadTimeout,
)
from thenga.kernel.values import networks

SHED = Counter("thenga_http_shed", "Requests refused because a limit was reached.", ["bound"])

_SHED_PROCESS = SHED.labels("process")
_SHED_TENANT = SHED.labels("tenant")
_SHED_STREAMS = SHED.labels("streams")
_SHED_BODIES = SHED.labels("bodies")

_WAITING = 10  # bodies that a process waits for, as a multiple of the requests it works on


class Bounds:
    """Counts of one process. Plain calls, each `enter` with its `leave` in a `finally`."""

    __slots__ = (
        *("_addresses", "_idle", "_tenants", "bodies", "draining", "in_flight", "process"),
        *("streams", "tenant", "waiting"),
    )

    def __init__(self, *, process: int, tenant: int, bodies: int = 32) -> None:
        self.process = process
        self.tenant = tenant
        self.bodies = bodies  # that are waited for at once from one address
        self.in_flight = 0
        self.streams = 0
        self.waiting = 0
        self._addresses: dict[str, int] = {}
        # Draining makes the process unready and refuses nothing: until the balancer has seen it,
        # requests still arrive and must be served.
        self.draining = False
        self._tenants: dict[UUID, int] = {}
        self._idle: asyncio.Event | None = None

    def enter(self) -> None:
        if self.in_flight >= self.process:
            _SHED_PROCESS.inc()
            raise _overloaded(
                "This server has reached its limit of concurrent requests. Try again shortly."
            )
        self.in_flight += 1

    def leave(self) -> None:
        self.in_flight -= 1
        if self._idle is not None and not self.in_flight and not self.waiting:
            self._idle.set()

    def enter_tenant(self, tenant: UUID) -> None:
        """One organization cannot take all places of the process from the others."""
        now = self._tenants.get(tenant, 0)
        if now >= self.tenant:
            _SHED_TENANT.inc()
            raise _overloaded(
                "This organization has too many requests in progress. Wait for one to finish, "
                "then try again."
            )
        self._tenants[tenant] = now + 1

    def leave_tenant(self, tenant: UUID) -> None:
        left = self._tenants[tenant] - 1
        if left:
            self._tenants[tenant] = left
        else:
            del self._tenants[tenant]

    def become_stream(self) -> None:
        """An event stream lasts for minutes and gives its place among the requests back."""
        if self.streams >= self.process:
            _SHED_STREAMS.inc()
            raise _overloaded(
                "This server has reached its limit of event streams. Try again shortly."
            )
        self.streams += 1
        self.leave()

    def leave_stream(self) -> None:
        self.streams -= 1

    def begin_body(self, address: str) -> None:
        """Wait for a body of this address; meanwhile the request's place is free for others."""
        now = self._addresses.get(address, 0)
        if now >= self.bodies:
            _SHED_BODIES.inc()
            raise RateLimited(
                f"At most {self.bodies} request bodies are received from one address at the "
                "same time.",
                headers={"Retry-After": "1"},
            )
        if self.waiting >= self.process * _WAITING:
            _SHED_BODIES.inc()
            raise _overloaded(
                "This server is receiving as many request bodies as it can. Try again shortly."
            )
        self._addresses[address] = now + 1
        self.waiting += 1
        self.in_flight -= 1

    def end_body(self, address: str) -> None:
        """Take the request's place back; `check` says whether there was one."""
        left = self._addresses[address] - 1
        if left:
            self._addresses[address] = left
        else:
            del self._addresses[address]
        self.waiting -= 1
        self.in_flight += 1

    def check(self) -> None:
        if self.in_flight > self.process:
            _SHED_PROCESS.inc()
            raise _overloaded(
                "This server has reached its limit of concurrent requests. Try again shortly."
            )

    async def finished(self, seconds: float) -> bool:
        """Whether all requests came to their end in that time."""
        if not self.in_flight and not self.waiting:
            return True
        self._idle = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        finally:
            self._idle = None
        return True


def _overloaded(detail: str) -> Overloaded:
    return Overloaded(detail, headers={"Retry-After": "1"})


def check_length(declared: str | bytes | None, limit: int) -> None:
    """Refuse by `Content-Length`, before a byte of the body is read."""
    if declared is None:
        return
    if not (declared.isascii() and declared.isdigit()):  # text has digits that int() refuses
        raise MalformedRequest("Content-Length is not a number.")
    # Python refuses to read numbers of thousands of digits; such a length is too large anyway.
    if len(declared) > 18 or int(declared) > limit:
        raise _too_large(limit)


async def read_body(receive: Receive, limit: int, *, seconds: float = 10.0) -> bytes:
    """The whole body; stops reading at the limit and does not wait for a slow sender."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect()
                part: bytes = message.get("body", b"")
                if len(body) + len(part) > limit:
                    raise _too_large(limit)
                if message.get("more_body", False):
                    body += part
                else:
                    return bytes(body + part) if body else part
    except TimeoutError:
        raise UploadTimeout(
            f"The body did not arrive within {seconds:g} seconds.", headers={"Connection": "close"}
        ) from None


async def take_in(request: Request, bounds: Bounds, limit: int, *, seconds: float = 10.0) -> None:
    """Read the body once, bounded in bytes, in time and in number for one address."""
    facts = request.scope["thenga"]
    if facts.body is not None:
        return
    check_length(request.headers.get("content-length"), limit)
    address = networks.counted(facts.network)[0]
    bounds.begin_body(address)
    try:
        facts.body = await read_body(request.receive, limit, seconds=seconds)
    finally:
        bounds.end_body(address)
    bounds.check()


async def stream_body(
    request: Request, bounds: Bounds, limit: int, *, seconds: float, idle_seconds: float
) -> AsyncIterator[bytes]:
    """The body part by part, for an upload that is not held in memory; stops at the limit.

    It has so many seconds in all, and so many for each part, apart from the time of a request.
    """
    taken = 0
    more = True
    over = asyncio.get_running_loop().time() + seconds
    if (whole := request.scope["thenga"].limit) is not None:
        whole.reschedule(max(whole.when() or 0.0, over + idle_seconds))
    address = networks.counted(request.scope["thenga"].network)[0]
    while more:
        bounds.begin_body(address)
        idle = asyncio.get_running_loop().time() + idle_seconds
        try:
            async with asyncio.timeout_at(min(idle, over)):
                message = await request.receive()
        except TimeoutError:
            raise _stalled(seconds, idle_seconds) from None
        finally:
            bounds.end_body(address)
        if message["type"] == "http.disconnect":
            raise ClientDisconnect()
        part: bytes = message.get("body", b"")
        taken += len(part)
        if taken > limit:
            raise _too_large(limit)
        more = message.get("more_body", False)
        if part:
            yield part


def _stalled(seconds: float, idle_seconds: float) -> UploadTimeout:
    return UploadTimeout(
        f"A file must arrive within {seconds:g} seconds, without a {idle_seconds:g} second pause.",
        headers={"Connection": "close"},
    )


def _too_large(limit: int) -> TooLarge:
    # No `Connection: close`: a server that closes on unread bytes resets the connection, and the
    # caller would never see this answer. The server throws the rest of the body away instead.
    return TooLarge(f"The body can have at most {limit} bytes.", limitBytes=limit)
