"""The outermost layer: who asks under which number, how long it took, and nothing unhandled.

It stands around everything else, the framework included.
"""

import asyncio
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import structlog
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uuid_utils import uuid7  # as text a quarter of the price of the standard class

from thenga.kernel.errors import InternalError, Overloaded, Problem
from thenga.kernel.http.bounds import SHED, Bounds
from thenga.kernel.http.problems import render
from thenga.kernel.http.proxies import Proxies
from thenga.kernel.http.tracing import Spans, name_span
from thenga.kernel.process import logs
from thenga.kernel.process.settings import Settings

# The count of requests is the histogram's own `_count`; a second metric would cost and say nothing.
_SECONDS = Histogram(
    "thenga_http_request_seconds",
    "Requests and their duration.",
    ["method", "route", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0),
)
_IN_FLIGHT = Gauge("thenga_http_in_flight", "Requests in progress.", multiprocess_mode="livesum")
_SHED_TIME = SHED.labels("time")

# These answer also when the process is full: an orchestrator that hears nothing would kill it.
ALWAYS_OPEN = frozenset({"/health/live", "/health/ready", "/metrics"})

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,128}")
_TRACEPARENT = re.compile(
    rb"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)
_CLIENT_GONE = 499
_NOSNIFF = (b"x-content-type-options", b"nosniff")  # an answer is what its type says


@dataclass(slots=True)
class RequestFacts:
    """What the edge knows of a request; `scope["thenga"]`."""

    request_id: str
    traceparent: str | None
    network: str  # the caller's address
    started: float
    headers: dict[bytes, bytes]  # by lower-case name, the last of equal ones
    limit: asyncio.Timeout | None = None  # on the whole request; an upload is given longer
    answers_long: bool = False  # a file, which a slow reader may take minutes for
    body: bytes | None = None  # once it has been taken in
    json: Any = None  # what the body says


_KNOWN = ("limit", "status", "streaming")


class _Answer:
    """Sends the response on, adds the request's number and remembers what was said."""

    __slots__ = ("_bounds", "_facts", "_request_id", "_seconds", "_send", *_KNOWN)

    def __init__(self, send: Send, facts: RequestFacts, bounds: Bounds, seconds: float) -> None:
        self._send = send
        self._facts = facts
        self._seconds = seconds  # for a file
        self._request_id = (b"x-request-id", facts.request_id.encode("ascii"))
        self._bounds = bounds
        self.status = 0
        self.streaming = False
        self.limit: asyncio.Timeout | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            for name, value in headers:
                if name == b"content-type" and value.startswith(b"text/event-stream"):
                    self._become_stream(None)
            if self._facts.answers_long:
                self._become_stream(asyncio.get_running_loop().time() + self._seconds)
            headers += (self._request_id, _NOSNIFF)
            message["headers"] = headers
            self.status = message["status"]
        try:
            await self._send(message)
        except OSError as error:
            raise ClientDisconnect() from error

    def _become_stream(self, until: float | None) -> None:
        """The time of a request does not bind it: a file has longer, an event stream no end."""
        if self.limit is None or self.streaming:
            return
        self._bounds.become_stream()
        self.streaming = True
        self.limit.reschedule(until)


class Edge:
    """Pure ASGI, because it runs on every request: see `test_observe` for what it costs."""

    def __init__(self, app: ASGIApp, *, settings: Settings, bounds: Bounds) -> None:
        self._app = app
        self._bounds = bounds
        self._seconds = settings.request_seconds
        self._upload_seconds = settings.upload_seconds
        self._base_url = settings.base_url
        self._proxies = Proxies(settings.trusted_proxies)
        self.spans = Spans(settings)
        self._log = structlog.get_logger().bind()
        self._timers: dict[tuple[str, str, int], Histogram] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        facts = scope["thenga"] = self._facts(scope)
        number = logs.request_id.set(facts.request_id)
        parent = logs.traceparent.set(facts.traceparent)
        answer = _Answer(send, facts, self._bounds, self._upload_seconds)
        try:
            if self.spans.on and scope["path"] not in ALWAYS_OPEN:
                await self._traced(scope, receive, answer)
            else:
                await self._serve(scope, receive, answer)
        finally:
            self._record(scope, facts, answer.status or _CLIENT_GONE)
            logs.traceparent.reset(parent)
            logs.request_id.reset(number)

    def _facts(self, scope: Scope) -> RequestFacts:
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        parent = headers.get(b"traceparent", b"")
        return RequestFacts(
            given.decode("ascii") if _REQUEST_ID.fullmatch(given) else str(uuid7()),
            parent.decode("ascii") if _TRACEPARENT.fullmatch(parent) else None,
            self._proxies.client(scope),
            perf_counter(),
            headers,
        )

    async def _serve(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        limit = answer.limit = scope["thenga"].limit = asyncio.timeout(self._seconds)
        bounded = scope["path"] not in ALWAYS_OPEN
        entered = False
        try:
            if bounded:
                self._bounds.enter()
                entered = True
            async with limit:
                await self._app(scope, receive, answer)
        except Problem as refused:
            await self._tell(refused, scope, receive, answer)
        except ClientDisconnect:
            answer.status = answer.status or _CLIENT_GONE
        except Exception as error:  # noqa: BLE001  (the last place where it can be told)
            problem: Problem = InternalError()
            if limit.expired() and isinstance(error, TimeoutError):
                _SHED_TIME.inc()
                problem = Overloaded(f"Processing took longer than {self._seconds} seconds.")
            else:
                self._log.error("http.request.failed", method=scope["method"], exc_info=error)
            await self._tell(problem, scope, receive, answer)
        finally:
            if answer.streaming:
                self._bounds.leave_stream()
            elif entered:
                self._bounds.leave()

    async def _tell(
        self, problem: Problem, scope: Scope, receive: Receive, answer: _Answer
    ) -> None:
        if answer.status:
            return  # half an answer is out: the server cuts the connection, which tells the caller
        answer.limit = None
        request_id = scope["thenga"].request_id
        path = scope["path"]
        response = render(problem, request_id=request_id, instance=path, base_url=self._base_url)
        with suppress(ClientDisconnect):
            await response(scope, receive, answer)

    async def _traced(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        with self.spans.request(scope["method"], scope["thenga"].traceparent) as span:
            await self._serve(scope, receive, answer)
            method, route = _operation(scope)
            name_span(span, method=method, route=route, status=answer.status or _CLIENT_GONE)

    def _record(self, scope: Scope, facts: RequestFacts, status: int) -> None:
        """One line and one observation; the template of the path, never its values."""
        took = perf_counter() - facts.started
        method, route = _operation(scope)
        key = (method, route, status // 100)
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = _SECONDS.labels(method, route, f"{status // 100}xx")
        timer.observe(took)
        _IN_FLIGHT.set(self._bounds.in_flight)
        self._log.info(
            "http.request.served",
            method=method,
            route=route,
            status=status,
            ms=round(took * 1000, 2),
        )


def _operation(scope: Scope) -> tuple[str, str]:
    """The method and the template of the path."""
    method = scope["method"] if scope["method"] in _METHODS else "OTHER"
    return method, getattr(scope.get("route"), "path", None) or "unmatched"


def metrics() -> tuple[bytes, str]:
    """The text for `/metrics` and its media type, over all processes where they share a folder."""
    registry = REGISTRY
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):  # the library's own switch
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # not typed
    return generate_latest(registry), CONTENT_TYPE_LATEST
