"""The ASGI application, which `thenga api` serves (kernel/http/serving.py)."""

from fastapi import FastAPI

from thenga import topology
from thenga.domains.identity.public import Decisions
from thenga.kernel import logs
from thenga.kernel.host import Host, make_host
from thenga.kernel.http.app import make_app
from thenga.kernel.settings import Settings, load


def build(settings: Settings, host: Host | None = None) -> FastAPI:
    """The application of these settings."""
    host = host or make_host(settings)
    domains = topology.load(topology.names_here(settings))
    topology.bind(host, domains, gate=Decisions)
    return make_app(host, host.bindings.of(Decisions), domains)


def app() -> FastAPI:
    """What a server calls once a process."""
    settings = load()
    if settings.production and settings.test_build:
        raise RuntimeError("a production start with THENGA_TEST_BUILD is refused (rule 56)")
    logs.configure(json=True)
    return build(settings)
