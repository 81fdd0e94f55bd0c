"""The ASGI application, which `thenga api` serves (kernel/http/serving.py)."""

from thenga import starting, topology
from thenga.domains.identity.public import Decisions
from thenga.kernel.http.app import Application, make_app
from thenga.kernel.process import logs
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings, load
from thenga.starting import make_host


def build(settings: Settings, host: Host | None = None) -> Application:
    """The application of these settings."""
    domains = topology.load(topology.names_here(settings))
    starting.check_api(settings, domains)
    host = host or make_host(settings, system_logins=False)
    topology.bind(host, domains, gate=Decisions)
    return make_app(host, host.bindings.of(Decisions), domains)


def app() -> Application:
    """What `thenga api` serves, once a process."""
    settings = load()
    logs.configure(json=True)
    return build(settings)
