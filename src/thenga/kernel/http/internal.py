"""The application of the internal listener: ports that other processes ask, and the figures.

It has an address of its own (`THENGA_INTERNAL_LISTEN`), so that nothing of it can be reached where
customers call, and bounds of its own, so that neither side can fill the other (SEC-60).
"""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from thenga.kernel.answered import answered_ports
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.host import Host
from thenga.kernel.http import observe, port_routes
from thenga.kernel.http.bounds import Bounds
from thenga.kernel.http.limits import Limits
from thenga.kernel.ports.once import Once


def make_internal(host: Host, limits: Limits, domains: Sequence[Domain]) -> ASGIApp:
    """`/internal/ports/{port}/{method}` and `/metrics`."""
    settings = host.settings
    bounds = Bounds(process=settings.in_flight, tenant=settings.in_flight_tenant)
    secret = bytes.fromhex(settings.internal_secret.get_secret_value())
    served = [port for domain in domains for port in answered_ports(domain)]
    once = Once(limits.remember)
    ports = port_routes.routes(host.bindings, served, secret, now=host.now, once=once)
    app = Starlette(routes=[*ports, Route("/metrics", _metrics)])
    return observe.Edge(app, settings=settings, bounds=bounds)


async def _metrics(_: Request) -> Response:
    text, kind = observe.metrics()
    return Response(text, media_type=kind)
