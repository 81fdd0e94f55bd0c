"""The answering side of ports asked over the wire: verify, run under the deadline, answer.

The headers are signed with the digest of the body, so nothing of a body is read for strangers; a
signature is good for one call (SEC-60).
"""

import hmac
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from thenga.kernel.declare.port import MethodShape, Port, methods
from thenga.kernel.errors import MalformedRequest, NotFound, Problem, Unauthenticated
from thenga.kernel.http.bounds import check_length, read_body
from thenga.kernel.ports.binding import Bindings, problem_as_json, within
from thenga.kernel.ports.once import WINDOW, Once
from thenga.kernel.ports.remote import (
    ANSWERED,
    CallContext,
    calling,
    checked,
    digest_of,
    path_of,
    signature,
)

BODY_BYTES = 1024 * 1024
BODY_SECONDS = 5.0
_NONCE = re.compile(r"[0-9a-f]{32}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Served:
    """One method, ready to be run."""

    port_name: str
    timeout: float
    shape: MethodShape
    method: Callable[..., Awaitable[object]]


def routes(
    bindings: Bindings,
    served: Iterable[type[Port]],
    secret: bytes,
    *,
    now: Callable[[], datetime],
    once: Once | None = None,
) -> list[Route]:
    """Mounted only where other processes ask; refuses to start if a served port is not bound."""
    key, once = checked(secret), once or Once()
    known: dict[tuple[str, str], Served] = {}
    for port in served:
        implementation = bindings.of(port)
        for shape in methods(port).values():
            method = getattr(implementation, shape.name)
            one = Served(port.port_name, port.port_timeout, shape, method)
            known[port.port_name, shape.name] = one

    async def answer(request: Request) -> Response:
        asked = request.path_params["port"], request.path_params["method"]
        try:
            await _verify(request, path_of(*asked), key, now(), once)
            body = await _body(request)
            if asked not in known:
                raise NotFound
            one = known[asked]
            arguments = one.shape.decode_arguments(body)
            seconds = min(one.timeout, _deadline(request, one.timeout))
        except Problem as problem:
            return _refusal(problem)
        return await _run(one, arguments, seconds, _context(request))

    return [Route("/internal/ports/{port}/{method}", answer, methods=["POST"])]


async def _run(
    one: Served, arguments: dict[str, object], seconds: float, context: CallContext
) -> Response:
    token = calling.set(context)
    try:
        answer = await within(seconds, one.port_name, one.method(**arguments))
    except Problem as problem:
        response = _refusal(problem)
    else:
        response = Response(one.shape.encode_answer(answer), media_type="application/json")
    finally:
        calling.reset(token)
    response.headers[ANSWERED] = "1"
    return response


async def _verify(request: Request, path: str, key: bytes, now: datetime, once: Once) -> None:
    """Whether one of our own processes sent these headers, now, and for the first time."""
    timestamp, nonce, digest, given = (
        request.headers.get(name, "")
        for name in ("Thenga-Timestamp", "Thenga-Nonce", "Thenga-Digest", "Thenga-Signature")
    )
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise Unauthenticated
    age = abs(now.timestamp() - int(timestamp))
    if age > WINDOW or _NONCE.fullmatch(nonce) is None:
        raise Unauthenticated
    actor = request.headers.get("Thenga-Actor", "")
    named = {"timestamp": timestamp, "nonce": nonce, "path": path, "digest": digest}
    expected = signature(key, actor=actor, **named)
    # As bytes, because the comparison of text raises on letters beyond ASCII.
    if not hmac.compare_digest(expected.encode(), given.encode()):
        raise Unauthenticated
    if not await once.take(nonce, age=age):
        raise Unauthenticated


async def _body(request: Request) -> bytes:
    """The body that the signed digest names, bounded in bytes and time."""
    check_length(request.headers.get("content-length"), BODY_BYTES)
    body = await read_body(request.receive, BODY_BYTES, seconds=BODY_SECONDS)
    if not hmac.compare_digest(digest_of(body), request.headers.get("Thenga-Digest", "")):
        raise Unauthenticated
    return body


def _deadline(request: Request, otherwise: float) -> float:
    text = request.headers.get("Thenga-Deadline-Ms")
    if text is None:
        return otherwise
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise MalformedRequest("Thenga-Deadline-Ms is a number of milliseconds")
    return int(text) / 1000


def _context(request: Request) -> CallContext:
    return CallContext(
        actor=unquote(request.headers.get("Thenga-Actor", "")),
        request_id=request.headers.get("X-Request-Id", ""),
        traceparent=request.headers.get("traceparent", ""),
    )


def _refusal(problem: Problem) -> Response:
    return Response(
        problem_as_json(problem),
        status_code=problem.status,
        headers=problem.headers,
        media_type="application/problem+json",
    )
