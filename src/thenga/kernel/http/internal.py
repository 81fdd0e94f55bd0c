"""The application of the internal listener: ports that other processes ask, and the figures.

It has an address of its own (`THENGA_INTERNAL_LISTEN`), so that nothing of it can be reached where
customers call, and bounds of its own, so that neither side can fill the other (SEC-60).
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress

import asyncpg
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http import observe, port_routes
from thenga.kernel.http.bounds import Bounds
from thenga.kernel.http.limits import Limits
from thenga.kernel.ports.once import Once
from thenga.kernel.process.host import Host
from thenga.kernel.standing import figures
from thenga.kernel.standing.answered import answered_ports

_AGES_SECONDS = 2.0


def make_internal(host: Host, limits: Limits, domains: Sequence[Domain]) -> ASGIApp:
    """`/internal/ports/{port}/{method}` and `/metrics`."""
    settings = host.settings
    bounds = Bounds(process=settings.in_flight, tenant=settings.in_flight_tenant)
    secret = bytes.fromhex(settings.internal_secret.get_secret_value())
    served = [port for domain in domains for port in answered_ports(domain)]
    once = Once(limits.remember)
    ports = port_routes.routes(host.bindings, served, secret, now=host.now, once=once)

    async def answer_metrics(_: Request) -> Response:
        text, kind = observe.metrics()
        ages = _Ages()
        for domain in domains:
            await ages.ask(host, domain)
        return Response(text + generate_latest(ages), media_type=kind)

    app = Starlette(routes=[*ports, Route("/metrics", answer_metrics)])
    return observe.Edge(app, settings=settings, bounds=bounds)


class _Ages(Collector):
    """What waits in each domain, and since when: all of it grows while no worker runs."""

    def __init__(self) -> None:
        self._oldest = GaugeMetricFamily(
            "thenga_oldest_seconds",
            "Age of the oldest event, job or letter that waits.",
            labels=("domain", "what"),
        )

    async def ask(self, host: Host, domain: Domain) -> None:
        """Add the ages of a domain; one whose database is away has figures of its own."""
        with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
            async with asyncio.timeout(_AGES_SECONDS):
                found = await figures.ages(host, domain)
            for key, age in found.items():
                self._oldest.add_metric((domain.name, key), age)

    def collect(self) -> Iterator[Metric]:
        yield self._oldest
