"""The stage of a benchmark: own servers, one owner, and as many rows as asked."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy.dialects.postgresql import JSONB

from tests import meshes
from tests.factories import identity as people
from thenga import topology
from thenga.domains.identity.tables import (
    AssignmentStatus,
    Membership,
    MembershipStatus,
    RoleAssignment,
    TenantMirror,
    UserAccount,
    UserStatus,
)
from thenga.domains.organization.tables import Equipment
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.db.rows import Row
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.kernel.values.ids import new_id
from thenga.starting import make_host
from thenga.tooling.dev import processes, servers


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
    try:
        os.environ.update(servers.up(home, meshes.reads()))
        os.environ["THENGA_ACTOR_PER_MINUTE"] = "100000000"
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
    others = [new_id() for _ in range(tenants - 1)]
    owners = [first] * 200 + [others[n % len(others)] if others else first for n in range(rows)]
    ids = [new_id() for _ in owners[:rows]]
    machine = Equipment(organization_id=first, name="Machine", quantity=1, expiries=[])
    made = (
        {"id": id_, "organization_id": owner, "name": f"Machine {n}"}
        for n, (id_, owner) in enumerate(zip(ids, owners, strict=False))
    )
    await _copy(connection, host.now(), machine, made)
    await _people(connection, host.now(), others)
    # Else the server is still busy with what was loaded while we measure. Only what was loaded:
    # a table that was vacuumed while empty is planned as empty until many rows later.
    loaded = "organization.equipment, identity.user_account, identity.tenant_mirror"
    await connection.execute(
        f"VACUUM (ANALYZE) {loaded}, identity.membership, identity.role_assignment"
    )
    await connection.execute("CHECKPOINT")
    await connection.close()
    return ids[0]


async def _people(connection: Any, now: datetime, organizations: list[UUID]) -> None:
    """An owner for every other tenant, so that the gate looks among as many."""
    people = [(organization, new_id(), new_id()) for organization in organizations]
    nobody = new_id()
    account = UserAccount(
        user_id=nobody, email="", display_name="Somebody", locale="en-ZA", time_zone="UTC",
        status=UserStatus.ACTIVE,
    )  # fmt: skip
    mirror = TenantMirror(organization_id=nobody, status="active")
    member = Membership(
        organization_id=nobody, user_id=nobody, status=MembershipStatus.ACTIVE, origin="founder"
    )
    role = RoleAssignment(
        organization_id=nobody, membership_id=nobody, role_code="owner",
        status=AssignmentStatus.ACTIVE, valid_from=now,
    )  # fmt: skip
    named = ({"id": u, "user_id": u, "email": f"{u}@example.test"} for _, u, _ in people)
    await _copy(connection, now, account, named)
    await _copy(connection, now, mirror, ({"organization_id": o} for o, _, _ in people))
    belonging = ({"id": m, "organization_id": o, "user_id": u} for o, u, m in people)
    await _copy(connection, now, member, belonging)
    owning = ({"organization_id": o, "membership_id": m} for o, _, m in people)
    await _copy(connection, now, role, owning)


async def _copy(
    connection: Any, now: datetime, like: Row, changes: Iterable[dict[str, Any]]
) -> None:
    """Rows like one, each with its own identifier and what is changed in it."""
    columns = like.__columns__
    common = {"created_at": now, "updated_at": now, "version": 1}
    given = {name: getattr(like, name, None) for name in columns} | common
    written = {c.name for c in like.__table__.columns if isinstance(c.type, JSONB)}
    first = {n: json.dumps(v) if n in written else v for n, v in given.items()}
    schema, table = like.__table__.schema, like.__table__.name
    records = [tuple((first | {"id": new_id()} | one)[name] for name in columns) for one in changes]
    await connection.copy_records_to_table(
        table, schema_name=schema, columns=list(columns), records=records
    )


@contextmanager
def serving(stage: Stage, target: str, *, factory: bool) -> Iterator[str]:
    """One server process with one worker, stopped by its own id."""
    port = processes.free_ports(1)[0]
    if factory:
        command = [sys.executable, "-m", "thenga", "api", "--port", str(port)]
    else:
        command = [sys.executable, "-m", "uvicorn", target, "--port", str(port), "--no-access-log"]
        command += ["--loop", "uvloop", "--http", "httptools", "--log-level", "error"]
        command += ["--no-proxy-headers", "--no-server-header"]
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
