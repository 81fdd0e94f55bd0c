"""The ASGI application, which `thenga api` serves (kernel/http/serving.py)."""

from fastapi import FastAPI

from thenga import topology
from thenga.domains.identity.public import Decisions
from thenga.kernel import logs, starting
from thenga.kernel.host import Host
from thenga.kernel.http.app import make_app
from thenga.kernel.settings import Settings, load
from thenga.kernel.starting import make_host


def build(settings: Settings, host: Host | None = None) -> FastAPI:
    """The application of these settings."""
    domains = topology.load(topology.names_here(settings))
    starting.check_api(settings, domains)
    host = host or make_host(settings, system_logins=False)
    topology.bind(host, domains, gate=Decisions)
    return make_app(host, host.bindings.of(Decisions), domains)


def app() -> FastAPI:
    """What `thenga api` serves, once a process."""
    settings = load()
    logs.configure(json=True)
    return build(settings)
