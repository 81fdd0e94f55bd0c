"""An application with a domain of tests beside the real ones, known to the catalogue."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from thenga import topology
from thenga.domains.identity.public import Decisions
from thenga.domains.identity.services.roles import catalogue
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.http.app import make_app
from thenga.kernel.process.settings import Settings
from thenga.kernel.standing import answered
from thenga.starting import make_host


@asynccontextmanager
async def serving(settings: Settings, domain: Domain) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that speaks to it; the catalogue is as it was afterwards."""
    host = make_host(settings)
    domains = topology.load(topology.DOMAINS)
    topology.bind(host, domains, gate=Decisions)
    answered.bind(domain, host)
    await catalogue.seed_permissions(host, [*domains, domain])
    app = make_app(host, host.bindings.of(Decisions), [*domains, domain])
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://thenga.test/v1") as client:
        yield client
    await catalogue.seed_permissions(host, domains)
    await host.close()
