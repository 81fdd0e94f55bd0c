"""The start of a process: what every command checks first, and the host it runs with."""

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from urllib.parse import urlsplit

from thenga.kernel.db.engine import Engines
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.declare.variable import Variable
from thenga.kernel.files.scanner import Scanner
from thenga.kernel.files.store import FileStore
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.process import secret_settings
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import (
    HOME,
    PER_DOMAIN,
    PREFIX,
    SettingRefused,
    Settings,
    is_loopback,
)
from thenga.kernel.values.clock import Clock, SystemClock

_NEVER_IN_API = ("system_database", "system_database_secret", "admin_database")


def check_given(settings: Settings) -> None:
    """Refuse to run where nobody has set anything: every process needs a secret or a key."""
    needed = (
        settings.sealing_key,
        settings.lookup_key,
        settings.database_secret,
        settings.nats_secret,
    )
    if not any(needed):
        file = (HOME / "env").absolute()
        state = "has none" if file.exists() else "does not exist"
        raise SettingRefused(
            f"No settings: {file} {state}. Run `thenga dev up`, or set THENGA_HOME to its folder."
        )


def check(settings: Settings, domains: Sequence[Domain]) -> None:
    """Refuse to start with test hooks in production, or with weak secrets (SEC-62)."""
    if settings.production and settings.test_build:
        raise SettingRefused("THENGA_TEST_BUILD: must not be set in production")
    secret_settings.check(settings, domains)


def check_serving(settings: Settings, domains: Sequence[Domain]) -> None:
    """As `check`, and in production what customers get is of an address that they can reach."""
    check(settings, domains)
    if not settings.production:
        return
    for name in ("base_url", "sandbox_url"):
        fault = _address_fault(getattr(settings, name)) if getattr(settings, name) else None
        if fault is not None:
            raise SettingRefused(f"{PREFIX}{name.upper()}: {fault}")
    for domain in domains:
        for variable in domain.environment:
            given = settings.of_domain(variable.name, domain.name)
            fault = variable.fault(given) if variable.fault else None
            if fault is not None:
                raise SettingRefused(f"{variable.setting(domain.name)}: {fault}")


def check_api(settings: Settings, domains: Sequence[Domain]) -> None:
    """As `check_serving`, and in production behind proxies of ours, without a login above row
    security.

    In development one file has the settings of all processes; there the host of an API process
    is made without system logins.
    """
    check_serving(settings, domains)
    above = [name for name in _NEVER_IN_API if _is_set(settings, name, domains)]
    if above and settings.production:
        named = ", ".join(f"{PREFIX}{name}".upper() for name in above)
        raise SettingRefused(f"{named}: must not be given to an API process")
    if settings.production and not settings.trusted_proxies:
        raise SettingRefused("THENGA_TRUSTED_PROXIES: must name the proxy that ends TLS")


def unknown(variables: Mapping[str, Sequence[Variable]]) -> list[str]:
    """A line for each `THENGA_…` of the environment that nothing reads, such as a misspelling."""
    known = {*(f"{PREFIX}{name}".upper() for name in Settings.model_fields), *_OF_TOOLS}
    for domain, own in variables.items():
        known |= {f"{PREFIX}{name}_{domain}".upper() for name in PER_DOMAIN}
        known |= {variable.setting(domain) for variable in own}
    lines = []
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            lines.append(f"{name}: there is no such setting{hint}")
    return lines


# Read by commands before there are settings, or by compose.yaml alone.
_OF_TOOLS = ("THENGA_HOME", "THENGA_ADMIN_PASSWORD", "THENGA_REDIS_PASSWORD")


def _address_fault(address: str) -> str | None:
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme != "https":
        return "must begin with https:// in production"
    if host == "localhost" or is_loopback(host):
        return "must be reached by customers, and this is loopback"
    return None


def _is_set(settings: Settings, name: str, domains: Sequence[Domain]) -> bool:
    value = getattr(settings, name)
    plain = value if isinstance(value, str) else value.get_secret_value()
    return bool(plain) or any(settings.of_domain(name, domain.name) for domain in domains)


def make_host(
    settings: Settings, *, clock: Clock | None = None, system_logins: bool = True
) -> Host:
    """The host of this process; of an API process it is made without system logins."""
    engines = Engines(settings, system_logins=system_logins)
    files, scanner = FileStore(settings), Scanner(settings)
    return Host(settings, engines, Bindings(), files, scanner, clock or SystemClock())
