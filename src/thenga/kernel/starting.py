"""The start of a process: what every command checks first, and the host it runs with."""

from collections.abc import Sequence

from thenga.kernel import secret_settings
from thenga.kernel.db.engine import Engines
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.files.scanner import Scanner
from thenga.kernel.files.store import FileStore
from thenga.kernel.host import Host
from thenga.kernel.ports.binding import Bindings
from thenga.kernel.settings import Settings
from thenga.kernel.values.clock import Clock, SystemClock

_NEVER_IN_API = ("system_database", "system_database_secret", "admin_database")


class StartRefused(RuntimeError):
    """The settings contradict what this process is; the text names the setting."""


def check(settings: Settings, domains: Sequence[Domain]) -> None:
    """Refuse to start with test hooks in production, or with weak secrets (SEC-62)."""
    if settings.production and settings.test_build:
        raise StartRefused("a production start with THENGA_TEST_BUILD is refused (rule 56)")
    secret_settings.check(settings, domains)


def check_api(settings: Settings, domains: Sequence[Domain]) -> None:
    """As `check`, and no login above row security in production (security rule 5).

    In development one file has the settings of all processes; there the host of an API process
    is made without system logins.
    """
    check(settings, domains)
    above = [name for name in _NEVER_IN_API if _is_set(settings, name, domains)]
    if above and settings.production:
        named = ", ".join(f"THENGA_{name}".upper() for name in above)
        raise StartRefused(f"an API process must not be given {named}")


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
