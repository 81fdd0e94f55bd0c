"""The answering side of ports asked over the wire: verify, run under the deadline, answer."""

import hmac
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from thenga.kernel.errors import MalformedRequest, NotFound, Problem, TooLarge, Unauthenticated
from thenga.kernel.ports.binding import Bindings, problem_as_json, within
from thenga.kernel.ports.port import MethodShape, Port, methods
from thenga.kernel.ports.remote import (
    ANSWERED,
    CallContext,
    calling,
    checked,
    path_of,
    signature,
)

WINDOW = 300  # seconds a signature lives, either way
BODY_BYTES = 1024 * 1024


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
) -> list[Route]:
    """Mounted only where other processes ask; refuses to start if a served port is not bound."""
    key = checked(secret)
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
            body = await _verified_body(request, path_of(*asked), key, now)
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


async def _verified_body(
    request: Request, path: str, key: bytes, now: Callable[[], datetime]
) -> bytes:
    """Nothing of the body is believed, or even parsed, before its signature is."""
    timestamp = request.headers.get("Thenga-Timestamp", "")
    given = request.headers.get("Thenga-Signature", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 and given):
        raise Unauthenticated
    if abs(now().timestamp() - int(timestamp)) > WINDOW:
        raise Unauthenticated
    body = await _bounded_body(request)
    actor = request.headers.get("Thenga-Actor", "")
    expected = signature(key, timestamp=timestamp, path=path, actor=actor, body=body)
    # As bytes, because the comparison of text raises on letters beyond ASCII.
    if not hmac.compare_digest(expected.encode(), given.encode()):
        raise Unauthenticated
    return body


async def _bounded_body(request: Request) -> bytes:
    parts = bytearray()
    async for part in request.stream():
        parts += part
        if len(parts) > BODY_BYTES:
            raise TooLarge(limitBytes=BODY_BYTES)
    return bytes(parts)


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
