"""A port asked over the wire: one signed POST per method, a deadline, Problems restored.

Only an answer that carries the mark `Thenga-Answered` was given by the port. All else is silence,
also a 401 or 404 of the other side's door: a wrong secret or an older process is our own mistake
and must not tell the customer to sign in or that a thing does not exist. It is logged instead.
"""

import asyncio
import hmac
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from random import SystemRandom
from secrets import token_hex
from typing import TypeVar
from urllib.parse import quote

import httpx2
import structlog
from pydantic import ValidationError

from thenga.kernel.declare.port import MethodShape, Port
from thenga.kernel.errors import DependencyUnavailable
from thenga.kernel.ports.binding import restored, silence, stand_in, within

P = TypeVar("P", bound=Port)

ANSWERED = "Thenga-Answered"
TRIES = 3
FIRST_PAUSE = 0.02  # seconds; doubled for the next pause, each drawn anew from zero to it
SECRET_BYTES = 32

log = structlog.get_logger()
random = SystemRandom()


@dataclass(frozen=True, slots=True)
class CallContext:
    """Who asks, and for which request; the actor is opaque JSON text."""

    actor: str = ""
    request_id: str = ""
    traceparent: str = ""


NOBODY = CallContext()
calling: ContextVar[CallContext] = ContextVar("calling", default=NOBODY)


def path_of(port_name: str, method: str) -> str:
    return f"/internal/ports/{port_name}/{method}"


def signature(
    secret: bytes, *, timestamp: str, nonce: str, path: str, actor: str, digest: str
) -> str:
    """Of the headers, which name the digest of the body: so it is checked before the body is read.

    Each part goes in with its length, so that no byte can move from one part to the next.
    """
    mac = hmac.new(secret, digestmod=sha256)
    for part in (timestamp, nonce, path, actor, digest):
        encoded = part.encode()
        mac.update(b"%d:" % len(encoded))
        mac.update(encoded)
    return mac.hexdigest()


def digest_of(body: bytes) -> str:
    return sha256(body).hexdigest()


def checked(secret: bytes) -> bytes:
    """An empty or short secret would let anybody sign."""
    if len(secret) < SECRET_BYTES:
        raise ValueError(f"the internal secret must have at least {SECRET_BYTES} bytes")
    return secret


@dataclass(slots=True)
class RetryBudget:
    """Retries stay near a tenth of the calls, so a failing part is not pressed harder."""

    left: float = 3.0

    def earn(self) -> None:
        self.left = min(self.left + 0.1, 10.0)

    def spend(self) -> bool:
        if self.left < 1.0:
            return False
        self.left -= 1.0
        return True


@dataclass(frozen=True, slots=True)
class Line:
    """The way to one port in another process."""

    port: type[Port]
    address: str
    secret: bytes
    client: httpx2.AsyncClient
    now: Callable[[], datetime]
    budget: RetryBudget = field(default_factory=RetryBudget)

    async def ask(self, shape: MethodShape, arguments: dict[str, object]) -> object:
        body = shape.encode_arguments(arguments)
        seconds, name = self.port.port_timeout, self.port.port_name
        response = await within(seconds, name, self._send_until_answered(shape, body))
        if response.status_code != 200:
            raise restored(response.content, name)
        try:
            return shape.decode_answer(response.content)
        except ValidationError:
            log.error("kernel.port.answer_not_understood", port=name, method=shape.name)
            raise silence(name) from None

    async def _send_until_answered(self, shape: MethodShape, body: bytes) -> httpx2.Response:
        """Asks again only where the method is idempotent, the budget and the deadline allow it."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + self.port.port_timeout
        self.budget.earn()
        for tries in range(1, TRIES + 1):
            try:
                return await self._send(shape, body, deadline - clock())
            except DependencyUnavailable:
                pause = random.uniform(0, FIRST_PAUSE * 2 ** (tries - 1))
                in_time = clock() + pause < deadline
                if not (shape.idempotent and tries < TRIES and in_time and self.budget.spend()):
                    raise
            await asyncio.sleep(pause)
        raise silence(self.port.port_name)

    async def _send(self, shape: MethodShape, body: bytes, seconds: float) -> httpx2.Response:
        path = path_of(self.port.port_name, shape.name)
        try:
            # The deadline around this rules, so the client needs no clocks of its own.
            response = await self.client.post(
                self.address + path,
                content=body,
                headers=self._headers(path, body, seconds),
                timeout=None,
                follow_redirects=False,
            )
        except httpx2.RequestError as error:
            self._log_silence(shape, type(error).__name__)
            raise silence(self.port.port_name) from None
        if ANSWERED not in response.headers or response.status_code >= 500:
            self._log_silence(shape, str(response.status_code))
            raise silence(self.port.port_name)
        return response

    def _log_silence(self, shape: MethodShape, cause: str) -> None:
        name = self.port.port_name
        log.warning("kernel.port.silent", port=name, method=shape.name, cause=cause)

    def _headers(self, path: str, body: bytes, seconds: float) -> dict[str, str]:
        context = calling.get()
        # Percent signs carry what a header cannot: line ends, and letters beyond ASCII.
        actor = quote(context.actor, safe='{}[]":,@')
        timestamp = str(int(self.now().timestamp()))
        nonce, digest = token_hex(16), digest_of(body)  # each try is a call of its own
        named = {"timestamp": timestamp, "nonce": nonce, "path": path, "digest": digest}
        sealed = signature(self.secret, actor=actor, **named)
        carried = {
            "Thenga-Actor": actor,
            "X-Request-Id": context.request_id,
            "traceparent": context.traceparent,
        }
        return {
            "Content-Type": "application/json",
            "Thenga-Signature": sealed,
            "Thenga-Timestamp": timestamp,
            "Thenga-Nonce": nonce,
            "Thenga-Digest": digest,
            "Thenga-Deadline-Ms": str(max(0, int(seconds * 1000))),
            **{name: value for name, value in carried.items() if value},
        }


def remote(
    port_class: type[P],
    address: str,
    *,
    secret: bytes,
    client: httpx2.AsyncClient,
    now: Callable[[], datetime],
) -> P:
    """The port as another process answers it at `address`."""
    url = httpx2.URL(address)
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"{port_class.port_name}: {address!r} is not an http address")
    line = Line(port_class, address.rstrip("/"), checked(secret), client, now)
    return stand_in(port_class, line.ask)
