"""Every port that a domain answers: its own, and those that the kernel answers for each domain."""

from functools import partial
from typing import Any

from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.port import Port
from thenga.kernel.events.subscriptions import by_source
from thenga.kernel.process.host import Host
from thenga.kernel.standing.figures import figures_of, local_figures
from thenga.kernel.standing.panels import local_panels, panels_of
from thenga.kernel.standing.setting_checks import local_setting_checks, setting_checks_of
from thenga.kernel.standing.timetable import local_timetable, timetable_of


def answered_ports(domain: Domain) -> dict[type[Port], Any]:
    """The ports that a domain provides, its figures, its panels, the checks of its settings and,
    where time moves rows of it, its timetable."""
    made: dict[type[Port], Any] = dict(domain.provides)
    sources = sorted(by_source(domain))
    made[figures_of(domain.name)] = partial(local_figures, domain=domain.name, sources=sources)
    if domain.panel is not None:
        made[panels_of(domain.name)] = partial(local_panels, domain=domain.name, panel=domain.panel)
    if domain.settings:
        checks = partial(local_setting_checks, domain=domain.name, settings=domain.settings)
        made[setting_checks_of(domain.name)] = checks
    if domain.jobs is not None and domain.jobs.moved:
        made[timetable_of(domain.name)] = partial(local_timetable, jobs=domain.jobs)
    return made


def kernel_ports(domain: str) -> set[type[Port]]:
    """The ports that the kernel answers for a domain, wherever it runs."""
    kernel = (timetable_of, panels_of, figures_of, setting_checks_of)
    return {port_of(domain) for port_of in kernel}


def bind(domain: Domain, host: Host) -> None:
    """Answer the ports of a domain in this process, and let it publish its events."""
    host.told[domain.name] = frozenset(event.type for event in domain.events)
    for port, maker in answered_ports(domain).items():
        host.bindings.bind(port, maker(host))
