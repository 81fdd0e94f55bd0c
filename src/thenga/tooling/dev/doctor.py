"""Examines an installation: what is there, what we need, and what to do about it."""

import asyncio
import http.client
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import nats
import nats.errors
import psycopg
import redis

from thenga.kernel.db.migrate import EXTENSIONS
from thenga.kernel.errors import Problem
from thenga.kernel.events import accounts
from thenga.kernel.files.scanner import Scanner
from thenga.kernel.files.store import FileStore
from thenga.kernel.outside.isolation import IsolationFailed, run_isolated
from thenga.kernel.process import secret_settings
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.clock import SystemClock
from thenga.tooling.dev.nats_server import NATS_VERSION
from thenga.tooling.dev.servers import POSTGRES_VERSION

PYTHON_VERSION = (3, 11)
DURABLE = ("fsync", "full_page_writes", "synchronous_commit")
_SECONDS = 3
_CHILD_SECONDS = 30


class Finding(NamedTuple):
    """One thing looked at; `wanted` says what would be right, or what to do."""

    name: str
    ok: bool
    found: str
    wanted: str


def examine(settings: Settings) -> list[Finding]:
    """Everything that must be so before Thenga can be trusted here."""
    looks: list[Callable[[Settings], Iterator[Finding]]] = [
        _process,
        _isolation,
        _postgres,
        _nats,
        _redis,
        _files,
        _scanner,
    ]
    return [finding for look in looks for finding in look(settings)]


def render(findings: list[Finding]) -> str:
    """The findings as a table; what is wanted is told only where it is missing."""
    widths = (
        max((len(finding.name) for finding in findings), default=0),
        max((len(finding.found) for finding in findings), default=0),
    )
    lines = []
    for finding in findings:
        advice = "" if finding.ok else finding.wanted
        mark = "ok" if finding.ok else "NO"
        line = f"{mark}  {finding.name:<{widths[0]}}  {finding.found:<{widths[1]}}  {advice}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _process(settings: Settings) -> Iterator[Finding]:
    version = sys.version_info[:3]
    yield Finding("python", version >= PYTHON_VERSION, _dotted(version), "3.11 or newer")
    for name, read in (
        ("sealing key", secret_settings.sealing_keys),
        ("lookup key", secret_settings.lookup_key),
    ):
        yield _key(name, read, settings)
    mixed = settings.production and settings.test_build
    build = "test build" if settings.test_build else "plain build"
    where = "in production" if settings.production else "not in production"
    yield Finding("build", not mixed, f"{build}, {where}", "no THENGA_TEST_BUILD in production")


def _isolation(settings: Settings) -> Iterator[Finding]:
    """What keeps readers of foreign files from the network: the system, or only their Python."""
    name, wanted = "isolation", "let the worker unshare namespaces or set seccomp filters"
    call = "thenga.kernel.outside.isolated_child:walls"
    asked = run_isolated(call, b"", {}, seconds=_CHILD_SECONDS)
    try:
        told = asyncio.run(asked).values
    except IsolationFailed as failure:
        yield Finding(name, False, f"no child: {failure}", "a Linux that runs this Python again")
        return
    own = told["network"] != str(Path("/proc/self/ns/net").readlink())
    walls = [text for text, up in (("own network", own), ("no sockets", not told["sockets"])) if up]
    found = ", ".join(walls) or "refused in Python only"
    yield Finding(name, bool(walls) or not settings.production, found, wanted)


def _key(name: str, read: Callable[[Settings], object], settings: Settings) -> Finding:
    wanted = f"THENGA_{name.upper().replace(' ', '_')}: 32 bytes in hex"
    try:
        read(settings)
    except secret_settings.WeakSecret as refusal:
        return Finding(name, False, str(refusal), wanted)
    return Finding(name, True, "32 bytes", wanted)


def _postgres(settings: Settings) -> Iterator[Finding]:
    address = _any_login(settings)
    if not address:
        yield Finding("postgres", False, "no address", "set THENGA_DATABASE")
        return
    try:
        with psycopg.connect(address, connect_timeout=_SECONDS, autocommit=True) as connection:
            yield from _server(connection)
            yield from _logins(connection)
            yield from _extensions(connection)
            yield _skew(connection)
    except psycopg.Error as error:
        # Only the kind: the text of an error may repeat the address.
        yield Finding("postgres", False, type(error).__name__, "start it, or mend the address")


def _any_login(settings: Settings) -> str:
    """The login that this process has; each can see what is examined here."""
    if admin := settings.admin_database.get_secret_value():
        return admin
    if settings.system_database:
        secret = settings.system_database_secret
        return secret_settings.address(settings.system_database, secret, "identity_system")
    if settings.database:
        return secret_settings.address(settings.database, settings.database_secret, "identity")
    return ""


def _server(connection: "psycopg.Connection[tuple[object, ...]]") -> Iterator[Finding]:
    version = connection.info.server_version
    wanted = f"PostgreSQL {POSTGRES_VERSION} or newer"
    found = f"{version // 10000}.{version % 10000}"
    yield Finding("postgres", version >= POSTGRES_VERSION * 10000, found, wanted)
    for name in DURABLE:
        value = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
        found = str(value[0]) if value else ""
        yield Finding(name, found == "on", found, "on: an answered commit must survive a crash")


def _logins(connection: "psycopg.Connection[tuple[object, ...]]") -> Iterator[Finding]:
    """Row security binds neither superusers nor BYPASSRLS, so no login of ours is either.

    Role 10 is the administrator that every cluster is made with.
    """
    rows = connection.execute(
        "SELECT rolname, rolsuper, rolbypassrls AND rolname NOT LIKE '%\\_system' FROM pg_roles"
        " WHERE rolcanlogin AND rolname <> current_user AND oid <> 10 ORDER BY rolname"
    ).fetchall()
    wide = [str(name) for name, superuser, bypasses in rows if superuser or bypasses]
    wanted = "ALTER ROLE … NOSUPERUSER NOBYPASSRLS"
    if not rows:
        yield Finding("logins", True, "not migrated yet", "run `make migrate`")
    elif wide:
        yield Finding("logins", False, f"above row security: {', '.join(wide)}", wanted)
    else:
        yield Finding("logins", True, f"{len(rows)}, all under row security", wanted)
    changed = connection.execute(
        "SELECT rolname FROM pg_roles WHERE rolcanlogin AND rolname <> current_user AND oid <> 10"
        " AND EXISTS (SELECT FROM unnest(rolconfig) AS each WHERE each NOT LIKE 'search_path=%')"
        " ORDER BY rolname"
    ).fetchall()
    found = ", ".join(str(name) for (name,) in changed) or "as `thenga migrate` made them"
    yield Finding("login defaults", not changed, found, "run `thenga migrate`, and ask who did it")


def _extensions(connection: "psycopg.Connection[tuple[object, ...]]") -> Iterator[Finding]:
    known = connection.execute("SELECT name FROM pg_available_extensions").fetchall()
    for name in EXTENSIONS:
        there = (name,) in known
        yield Finding(name, there, "there" if there else "absent", "install the extension")


def _skew(connection: "psycopg.Connection[tuple[object, ...]]") -> Finding:
    before = SystemClock().now()
    row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
    after = SystemClock().now()
    here = (before.timestamp() + after.timestamp()) / 2
    skew = abs(float(str(row[0])) - here) if row else float("inf")
    return Finding("clock", skew < 1, f"{skew:.3f} s from PostgreSQL", "under 1 s: run NTP on both")


def _nats(settings: Settings) -> Iterator[Finding]:
    if not settings.nats:
        yield Finding("nats", False, "no address", "set THENGA_NATS")
        return
    address = secret_settings.address(settings.nats, settings.nats_secret, accounts.TOOLS)
    try:
        version, stored = asyncio.run(asyncio.wait_for(_ask_nats(address), _SECONDS))
    except (OSError, TimeoutError, nats.errors.Error) as error:
        yield Finding("nats", False, type(error).__name__, "start it, or mend THENGA_NATS")
        return
    new = tuple(int(part) for part in version.split(".")[:2]) >= NATS_VERSION
    yield Finding("nats", new, version, f"{_dotted(NATS_VERSION)} or newer: older drops fields")
    yield Finding("jetstream", stored is not None, stored or "off", "turn JetStream on")
    yield _sync(settings.nats_monitor)


async def _ask_nats(address: str) -> tuple[str, str | None]:
    """The version and what JetStream holds; `nats.connect` alone may try for two minutes."""
    # Without a number of attempts, or with 0, a server that refuses is asked again for ever.
    client = await nats.connect(
        address,
        allow_reconnect=False,
        max_reconnect_attempts=1,
        reconnect_time_wait=0,
        error_cb=_say_nothing,
    )
    try:
        held = await client.jetstream().account_info()
        stored = f"{held.streams} streams, {held.consumers} consumers"
    except nats.errors.Error:
        stored = None
    finally:
        version = client.connected_server_version
        await client.close()
    return f"{version.major}.{version.minor}.{version.patch}", stored


async def _say_nothing(_: Exception) -> None:
    """The client would write a traceback for each try."""


def _sync(monitor: str) -> Finding:
    wanted = "jetstream { sync_interval: always }, and THENGA_NATS_MONITOR to see it"
    if not monitor:
        return Finding("jetstream sync", True, "not known: no THENGA_NATS_MONITOR", wanted)
    try:
        place = urlsplit(monitor)
        link = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_SECONDS)
        link.request("GET", "/jsz")
        always = json.loads(link.getresponse().read()).get("config", {}).get("sync_always", False)
        link.close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        return Finding("jetstream sync", False, type(error).__name__, wanted)
    return Finding("jetstream sync", always, "always" if always else "now and then", wanted)


def _redis(settings: Settings) -> Iterator[Finding]:
    if not settings.redis:
        yield Finding("redis", False, "no address", "set THENGA_REDIS")
        return
    client = redis.Redis.from_url(
        settings.redis, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS
    )
    try:
        client.ping()
        yield Finding("redis", True, "answers", "")
    except redis.RedisError as error:
        yield Finding("redis", False, type(error).__name__, "start it, or mend THENGA_REDIS")
    finally:
        client.close()


def _files(settings: Settings) -> Iterator[Finding]:
    if not settings.files:
        yield Finding("files", False, "no place", "set THENGA_FILES: a folder, or s3://bucket")
        return
    try:
        asyncio.run(asyncio.wait_for(_try_files(FileStore(settings)), _SECONDS * 4))
        yield Finding("files", True, f"written and read in {settings.files}", "")
    except (Problem, LookupError, OSError) as error:
        wanted = "let it be written, or mend THENGA_FILES"
        yield Finding("files", False, type(error.__cause__ or error).__name__, wanted)


async def _try_files(store: FileStore) -> None:
    """Write, read and delete; a bucket may allow one and not the other."""
    written = b"doctor"
    kept = await store.put("doctor", _parts(written), most_bytes=len(written))
    read = b"".join([chunk async for chunk in store.read(kept.key)])
    await store.delete(kept.key)
    if read != written:
        raise LookupError(kept.key)


async def _parts(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _scanner(settings: Settings) -> Iterator[Finding]:
    if not settings.scanner:
        yield Finding("scanner", False, "no address", "set THENGA_SCANNER, or no file is readable")
        return
    try:
        asyncio.run(Scanner(settings).check())
        yield Finding("scanner", True, "finds EICAR, also nested", "")
    except Problem as unfit:
        wanted = "start clamd, with the settings of compose.yaml"
        yield Finding("scanner", False, unfit.detail, wanted)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)
