"""Examines what runs: migrations, a worker, the mail server, a source of tenders."""

import smtplib
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta

import psycopg
from psycopg.sql import SQL, Identifier

from thenga.kernel.db.versions import newest
from thenga.kernel.declare.manifest import Domain
from thenga.kernel.process import secret_settings
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.clock import SystemClock
from thenga.tooling.dev.doctor import Finding

_SECONDS = 10
_HEARD_WITHIN = timedelta(minutes=2)
_VERSION = SQL("SELECT version_num FROM {}.migration")
_HEARD = SQL("SELECT max(as_of) >= %s FROM {}.figure")
_SOURCE = """
    SELECT name, health, last_success_at FROM opportunity.source
    WHERE status = 'active' AND visibility = 'shared' ORDER BY name
"""

Connection = psycopg.Connection[tuple[object, ...]]


def examine(settings: Settings, domains: Sequence[Domain]) -> list[Finding]:
    """What must run for letters, events and tenders to arrive."""
    if not settings.database:
        return [Finding("migrations", False, "no address", "set THENGA_DATABASE")]
    looks: list[Callable[[Settings, Sequence[Domain]], Finding]] = [_migrations, _worker]
    if any(domain.name == "notification" for domain in domains):
        looks.append(_mail)
    if any(domain.name == "opportunity" for domain in domains):
        looks.append(_source)
    findings = []
    for look in looks:
        try:
            findings.append(look(settings, domains))
        except psycopg.Error as error:
            # Only the kind: the text of an error may repeat the address.
            name = look.__name__.strip("_")
            findings.append(Finding(name, False, type(error).__name__, "run `thenga migrate`"))
    return findings


def _connect(settings: Settings, domain: str, *, system: bool = False) -> Connection:
    """A connection with a login of the domain that this process has."""
    kind, login = ("system_database", f"{domain}_system") if system else ("database", domain)
    template = settings.of_domain(kind, domain) or getattr(settings, kind)
    address = secret_settings.address(template, getattr(settings, f"{kind}_secret"), login)
    return psycopg.connect(address, connect_timeout=_SECONDS, autocommit=True)


def _migrations(settings: Settings, domains: Sequence[Domain]) -> Finding:
    old = []
    for domain in domains:
        with _connect(settings, domain.name) as connection:
            row = connection.execute(_VERSION.format(Identifier(domain.name))).fetchone()
        if row is None or row[0] != newest(domain.migrations):
            old.append(domain.name)
    found = f"older than the code: {', '.join(old)}" if old else f"{len(domains)} up to date"
    return Finding("migrations", not old, found, "run `thenga migrate`")


def _worker(settings: Settings, domains: Sequence[Domain]) -> Finding:
    """Each worker writes the figures of its domains every quarter of a minute."""
    silent = []
    for domain in domains:
        with _connect(settings, domain.name) as connection:
            since = SystemClock().now() - _HEARD_WITHIN
            row = connection.execute(_HEARD.format(Identifier(domain.name)), [since]).fetchone()
        if row is None or not row[0]:
            silent.append(domain.name)
    found = f"not heard for two minutes: {', '.join(silent)}" if silent else "heard of every domain"
    return Finding("worker", not silent, found, "start `thenga worker`, and read its log")


def _mail(settings: Settings, _: Sequence[Domain]) -> Finding:
    """Greet the mail server, encrypt and sign in as letters do; nothing is sent."""

    def own(name: str) -> str:
        return settings.of_domain(name, "notification")

    host = own("smtp_host") or settings.smtp_host
    port = int(own("smtp_port") or settings.smtp_port)
    name, wanted = f"{host}:{port}", "mend THENGA_SMTP_…, or start the mail server"
    try:
        context = ssl.create_default_context(cafile=own("smtp_ca") or None)
        with _greeted(host, port, settings.smtp_security, context) as server:
            if own("smtp_user"):
                server.login(own("smtp_user"), own("smtp_password"))
    except (OSError, smtplib.SMTPException) as error:
        return Finding("mail", False, f"{name}: {type(error).__name__}", wanted)
    as_whom = "takes our login" if own("smtp_user") else "answers, without a login"
    return Finding("mail", True, f"{name} {as_whom}", wanted)


def _greeted(host: str, port: int, security: str, context: ssl.SSLContext) -> smtplib.SMTP:
    if security == "tls":
        return smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=context)
    server = smtplib.SMTP(host, port, timeout=_SECONDS)
    try:
        if security == "starttls":
            server.starttls(context=context)
        server.ehlo()
    except BaseException:
        with suppress(OSError):
            server.close()
        raise
    return server


def _source(settings: Settings, _: Sequence[Domain]) -> Finding:
    """Sources for everybody; what one company uploads for itself brings the others nothing."""
    name, wanted = "tender source", "activate the national portal: docs/tour-operators.md"
    if not (settings.of_domain("system_database", "opportunity") or settings.system_database):
        return Finding(name, True, "not known: no system login here", wanted)
    with _connect(settings, "opportunity", system=True) as connection:
        rows = connection.execute(_SOURCE).fetchall()
    if not rows:
        return Finding(name, False, "0 active", wanted)
    ailing = [row for row in rows if row[1] in ("failing", "late")]
    if not ailing:
        return Finding(name, True, f"{len(rows)} active", wanted)
    texts = [
        f"{label} is {health}, last success {last or 'never'}" for label, health, last in ailing
    ]
    return Finding(name, False, "; ".join(texts), "read why: GET /v1/opportunity/sources")
