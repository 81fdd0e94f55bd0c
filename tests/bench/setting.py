"""The stage of a benchmark: own servers, one owner, and as many rows as asked."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from tests.factories import identity as people
from thenga import topology
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.dev import processes, servers
from thenga.kernel.host import Host, make_host
from thenga.kernel.ids import new_id
from thenga.kernel.settings import Settings


@dataclass
class Stage:
    """What a benchmark stands on."""

    settings: Settings
    home: Path
    organization_id: UUID
    user_id: UUID
    token: str
    equipment_id: UUID
    environment: dict[str, str]


@contextmanager
def staged(rows: int, tenants: int = 1) -> Iterator[Stage]:
    """Servers with `rows` machines spread over `tenants`, and an owner of the first."""
    home = Path(tempfile.mkdtemp(prefix="thenga-bench-"))
    home.chmod(0o755)
    os.environ.update(servers.up(home))
    os.environ["THENGA_ACTOR_PER_MINUTE"] = "100000000"
    try:
        settings = Settings()
        domains = topology.load(topology.DOMAINS)
        migrate(settings, [Migrated(d.name, d.migrations, d.gate) for d in domains])
        yield asyncio.run(_fill(settings, home, rows, tenants))
    finally:
        servers.remove(home)
        shutil.rmtree(home, ignore_errors=True)


async def _fill(settings: Settings, home: Path, rows: int, tenants: int) -> Stage:
    host = make_host(settings)
    domains = topology.load(topology.DOMAINS)
    for domain in domains:
        if domain.at_deployment is not None:
            await domain.at_deployment(host, domains)
    owner = await people.member(host, new_id(), role="owner")
    equipment_id = await _machines(host, settings, owner.organization_id, rows, tenants)
    await host.close()
    environment = os.environ | {
        "BENCH_ORGANIZATION": str(owner.organization_id),
        "BENCH_USER": str(owner.user_id),
        "BENCH_TOKEN": owner.token,
    }
    return Stage(
        settings, home, owner.organization_id, owner.user_id, owner.token, equipment_id, environment
    )


async def _machines(host: Host, settings: Settings, first: UUID, rows: int, tenants: int) -> UUID:
    """The first tenant has 200 machines in every stage, so that its page is always the same."""
    connection = await asyncpg.connect(settings.admin_database.get_secret_value())
    now = host.now()
    others = [new_id() for _ in range(tenants - 1)]
    owners = [first] * 200 + [others[n % len(others)] if others else first for n in range(rows)]
    made = [
        (
            new_id(), now, now, 1, owner, f"Machine {n}", None, None, None, None, None, 1, None,
            "[]", "available", None, None, None,
        )
        for n, owner in enumerate(owners[:rows])
    ]  # fmt: skip
    await connection.copy_records_to_table("equipment", schema_name="organization", records=made)
    await _people(connection, now, others)
    # Else the server is still busy with what was loaded while we measure.
    await connection.execute("VACUUM (ANALYZE)")
    await connection.execute("CHECKPOINT")
    await connection.close()
    return made[0][0]


async def _people(connection: Any, now: datetime, organizations: list[UUID]) -> None:
    """An owner for every other tenant, so that the gate looks among as many."""
    ids = [(new_id(), new_id()) for _ in organizations]
    copy = connection.copy_records_to_table
    accounts = [
        (u, now, now, 1, u, f"{u}@example.test", "Somebody", "en-ZA", "UTC", "active", False,
         now, now)
        for u, _ in ids
    ]  # fmt: skip
    await copy("user_account", schema_name="identity", records=accounts)
    mirrors = [(new_id(), now, now, 1, o, "active", False, timedelta(0), 0) for o in organizations]
    await copy("tenant_mirror", schema_name="identity", records=mirrors)
    pairs = list(zip(organizations, ids, strict=True))
    members = [(m, now, now, 1, o, u, "active", "founder", "", now, None) for o, (u, m) in pairs]
    await copy("membership", schema_name="identity", records=members)
    roles = [
        (new_id(), now, now, 1, o, m, "owner", "active", now, None, None, None)
        for o, (_, m) in pairs
    ]
    await copy("role_assignment", schema_name="identity", records=roles)


@contextmanager
def serving(stage: Stage, target: str, *, factory: bool) -> Iterator[str]:
    """One server process with one worker, stopped by its own id."""
    port = processes.free_ports(1)[0]
    command = [sys.executable, "-m", "uvicorn", target, "--port", str(port), "--no-access-log"]
    command += ["--loop", "uvloop", "--http", "httptools", "--log-level", "error"]
    command += ["--no-proxy-headers", "--no-server-header"]
    if factory:
        command.append("--factory")
    with (stage.home / f"{port}.log").open("w") as log:
        process = subprocess.Popen(command, env=stage.environment, stdout=log, stderr=log)
    try:
        _await(
            f"http://127.0.0.1:{port}/health/live"
            if factory
            else f"http://127.0.0.1:{port}/x/equipment"
        )
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def _await(url: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(url, timeout=5).read()  # noqa: S310  # loopback
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{url} never answered")
