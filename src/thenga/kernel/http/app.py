"""The ASGI application of a process: its domains' routes, and what stands beside `/v1`.

`app.state.internal` is the application of its internal listener.
"""

import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from thenga.kernel.access.gate import Gate
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.errors import Problem
from thenga.kernel.http import observe
from thenga.kernel.http.bodies import View
from thenga.kernel.http.bounds import Bounds
from thenga.kernel.http.dispatch import Dispatch
from thenga.kernel.http.document.operations import operations
from thenga.kernel.http.document.pages import page_routes
from thenga.kernel.http.document.published import Library
from thenga.kernel.http.health import health_routes
from thenga.kernel.http.internal import make_internal
from thenga.kernel.http.limits import Limits
from thenga.kernel.http.problems import of_error, render
from thenga.kernel.http.security_contact import security_routes
from thenga.kernel.http.shared import Rules, Shared
from thenga.kernel.process.host import Host

# Spans, metrics and log lines are made at the edge.
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


class Application:
    """The edge around the doors, and around the framework for what stands beside them."""

    def __init__(self, framework: FastAPI, edge: ASGIApp) -> None:
        self.state = framework.state
        self._edge = edge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._edge(scope, receive, send)


def make_app(host: Host, gate: Gate, domains: Sequence[Domain]) -> Application:
    """The application; it does not start with a route that has no entrance or no permission."""
    settings = host.settings
    View.checked = settings.test_build
    bounds = Bounds(
        process=settings.in_flight,
        tenant=settings.in_flight_tenant,
        bodies=settings.bodies_per_address,
    )
    limits = Limits(settings.redis, secret=host.key("limits"))
    shared = Shared(host, gate, limits, Rules.of(settings), bounds)
    check_permissions(domains)
    library = Library(domains, settings=settings)
    app = _framework(shared, library)
    app.include_router(health_routes(host, domains, bounds))
    app.include_router(page_routes(library))
    app.include_router(security_routes(settings, host.now))
    app.state.domains = domains
    app.state.internal = make_internal(host, limits, domains)
    doors = [(one.path, one.door) for one in operations(domains)]
    inside = Dispatch(app, doors, settings.base_url)
    return Application(app, observe.Edge(inside, settings=settings, bounds=bounds))


def _framework(shared: Shared, library: Library) -> FastAPI:
    """FastAPI for what stands beside the doors, closed in order when the process ends."""
    settings = shared.host.settings

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await library.load()
        # What was loaded lives as long as the process; looking through it again is wasted time.
        # A page makes hundreds of small objects that reference counting frees by itself: the
        # collector need not look after every few requests.
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        yield
        shared.bounds.draining = True
        await shared.bounds.finished(settings.drain_seconds)
        await shared.limits.close()
        await shared.host.close()

    app = FastAPI(
        title="Thenga",
        version="1",
        openapi_url=None,  # made before the process serves (published.py)
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        telemetry=_NO_TELEMETRY,
        redirect_slashes=False,
    )
    app.state.shared = shared
    _answer_problems(app, shared.host)
    return app


def check_permissions(domains: Sequence[Domain]) -> None:
    """Every route's permission stands in its domain's catalogue (IDN-23)."""
    for domain in domains:
        known = {granted.code for granted in domain.permissions}
        for router in domain.routers:
            for permission in _permissions_of(router):
                if permission not in known:
                    raise LookupError(f"{permission} is used by a route and declared nowhere")


def _permissions_of(router: APIRouter) -> list[str]:
    entrances = [getattr(route, "entrance", None) for route in router.routes]
    return [e.permission for e in entrances if e is not None and e.permission is not None]


def _answer_problems(app: FastAPI, host: Host) -> None:
    base_url = host.settings.base_url

    def answer(request: Request, problem: Problem) -> Response:
        facts = request.scope["thenga"]
        return render(
            problem,
            request_id=facts.request_id,
            instance=request.url.path,
            base_url=base_url,
        )

    async def told(request: Request, error: Exception) -> Response:
        problem = of_error(error)
        if problem is None:
            raise error  # a defect of ours: logged and answered by the outermost layer
        return answer(request, problem)

    for kind in (Problem, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, told)
