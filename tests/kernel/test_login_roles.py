"""What somebody gains who got hold of a login of the database, and what is closed to them."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import asyncpg
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.conftest import Opening
from tests.probe import MIGRATIONS as PROBE_MIGRATIONS
from tests.probe import Thing
from thenga import topology
from thenga.kernel.db.engine import Engines, NoSystemLogin
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.process import secret_settings
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings
from thenga.tooling.dev import doctor

pytestmark = pytest.mark.no_retry

LOGINS = [
    (domain.name, login)
    for domain in topology.load(topology.DOMAINS)
    for login in (domain.name, f"{domain.name}_system", *([f"{domain.name}_gate"] * domain.gate))
]


async def test_a_password_opens_its_own_login_and_no_other(settings: Settings) -> None:
    engines, opened, own = Engines(settings), [], 0
    for domain, login in LOGINS:
        address = engines.address(domain, login)
        for _, other in LOGINS:
            try:
                connection = await asyncpg.connect(address, user=other)
            except asyncpg.InvalidPasswordError:
                continue
            await connection.close()
            own += other == login
            if other != login:
                opened.append((login, other))
    print(f"\nlogins={len(LOGINS)} own={own} opened_with_anothers_password={len(opened)}")
    assert (own, opened) == (len(LOGINS), [])


async def test_defaults_of_a_role_change_no_connection_of_ours(
    settings: Settings, host: Host, opening: Opening
) -> None:
    """`ALTER ROLE self SET` cannot be forbidden; so what counts is asked for at each start."""
    victim = uuid4()
    work = opening.work(victim)
    await work.add(Thing(organization_id=victim, name="theirs"))
    await work.finish()
    attacker = await asyncpg.connect(Engines(settings).address("probe", "probe"))
    changes = {
        "search_path": "public",
        "row_security": "off",
        "default_transaction_read_only": "on",
    }
    for name, value in changes.items():
        await attacker.execute(f"ALTER ROLE probe SET {name} = '{value}'")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):  # PostgreSQL keeps this one itself
        await attacker.execute(f"ALTER ROLE probe SET app.organization_id = '{victim.hex}'")
    bare = await asyncpg.connect(Engines(settings).address("probe", "probe"))
    changed = [n for n, v in changes.items() if await bare.fetchval(f"SHOW {n}") == v]
    await bare.close()
    fresh = replace(host, engines=Engines(settings))
    try:
        async with fresh.engines.connection("probe", "probe") as connection:
            ours = [n for n, v in changes.items() if await connection.fetchval(f"SHOW {n}") == v]
            seen = await connection.fetchval(
                "SELECT count(*) FROM probe.thing WHERE organization_id = $1", victim
            )
        reader = Opening(fresh).reader(None)
        foreign = await reader.records(select(Thing.id).where(Thing.organization_id == victim))
        await reader.close()
        told = {one.name: one for one in await asyncio.to_thread(doctor.examine, settings)}
        await asyncio.to_thread(migrate, settings, [Migrated("probe", PROBE_MIGRATIONS)])
        after = {one.name: one for one in await asyncio.to_thread(doctor.examine, settings)}
    finally:
        await attacker.execute("ALTER ROLE probe RESET ALL")
        await attacker.execute("ALTER ROLE probe SET search_path = probe")
        await attacker.close()
        await fresh.engines.close()
    print(
        f"\nrole_defaults changed_for_bare_connections={len(changed)} for_ours={len(ours)} "
        f"foreign_rows_seen={seen + len(foreign)}"
    )
    assert len(changed) == len(changes)
    assert (ours, seen, foreign) == ([], 0, [])
    assert (told["login defaults"].ok, told["login defaults"].found) == (False, "probe")
    assert after["login defaults"].ok


def test_an_api_process_reaches_no_system_login(app: FastAPI, settings: Settings) -> None:
    """Though a developer's settings have its address."""
    engines = app.state.shared.host.engines
    assert settings.system_database
    for domain in topology.DOMAINS:
        with pytest.raises(NoSystemLogin):
            engines.address(domain, f"{domain}_system")


def test_passwords_differ_and_tell_nothing() -> None:
    made = {secret_settings.password("a" * 32, login) for _, login in LOGINS}
    made |= {secret_settings.password("b" * 32, login) for _, login in LOGINS}

    assert len(made) == 2 * len(LOGINS)
