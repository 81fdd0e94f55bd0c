"""Names the domains; loads those that run here, and knows where the others answer."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

import httpx2

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.port import Port
from thenga.kernel.declare.variable import Variable
from thenga.kernel.outside import outbound
from thenga.kernel.ports.remote import remote
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import SettingRefused, Settings
from thenga.kernel.standing.answered import bind as bind_domain
from thenga.kernel.standing.answered import kernel_ports

# A domain stands here from the day it has a manifest.
DOMAINS = (
    "identity",
    "organization",
    "compliance",
    "opportunity",
    "bid",
    "contract",
    "supplier",
    "marketplace",
    "billing",
    "notification",
    "administration",
)


def names_here(settings: Settings) -> list[str]:
    """The domains of this process: `THENGA_DOMAINS`, or all."""
    asked = [name.strip() for name in settings.domains.split(",") if name.strip()]
    unknown = set(asked) - set(DOMAINS)
    if unknown:
        raise SettingRefused(f"THENGA_DOMAINS: {', '.join(sorted(unknown))} is no domain")
    return [name for name in DOMAINS if not asked or name in asked]


def load(names: Sequence[str]) -> list[Domain]:
    """The manifests, each imported on its own, so a split process loads only its own code."""
    found = []
    with _collector_off():
        for name in names:
            manifest = import_module(f"thenga.domains.{name}.manifest").DOMAIN
            assert isinstance(manifest, Domain)  # noqa: S101  # all that a manifest module holds
            found.append(manifest)
    return found


def environments() -> dict[str, Sequence[Variable]]:
    """What each domain reads from the environment; loads nothing else of it."""
    found: dict[str, Sequence[Variable]] = {}
    for name in DOMAINS:
        module = f"thenga.domains.{name}.environment"
        found[name] = import_module(module).ENVIRONMENT if find_spec(module) else ()
    return found


@contextmanager
def _collector_off() -> Iterator[None]:
    """Modules stay as long as the process: the collector would only walk them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def bind(host: Host, domains: Sequence[Domain], *, gate: type[Port]) -> None:
    """Bind every port that these domains answer or need; the start fails if one has neither."""
    here = {domain.name for domain in domains}
    for domain in domains:
        bind_domain(domain, host)
    needed = {port for domain in domains for port in domain.needs} | {gate}
    hoped_for = {port for domain in domains for port in domain.may_need}
    hoped_for |= {port for name in DOMAINS for port in kernel_ports(name)}
    # No proxy may take a call between ourselves.
    client = httpx2.AsyncClient(verify=outbound.tls(), trust_env=False)
    host.closing.append(client.aclose)
    for port in sorted(needed | hoped_for, key=lambda p: p.port_name):
        owner = port.port_name.split(".")[0]
        if owner in here:
            continue
        address = host.settings.of_domain("remote", owner)
        if address:
            secret = bytes.fromhex(host.settings.internal_secret.get_secret_value())
            answering = remote(port, address, secret=secret, client=client, now=host.now)
            host.bindings.bind(port, answering)
    host.bindings.require(needed)
