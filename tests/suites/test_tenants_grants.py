"""A login has rights in its own domain's schema only, and none that goes round row security."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import psycopg
import pytest

from tests.suites import grants
from tests.suites.apart import database_apart
from thenga import topology
from thenga.kernel.db.migrate import Migrated
from thenga.kernel.process.settings import Settings

pytestmark = pytest.mark.no_retry

DOMAINS = topology.load(topology.DOMAINS)
ALL = 15  # domains when the product is complete; those to come have a stand-in
STAND_INS = [f"standin{n:02}" for n in range(1, ALL - len(DOMAINS) + 1)]
MIGRATION = """
import sqlalchemy as sa
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrating import make_kernel_tables, make_table
revision, down_revision, branch_labels, depends_on = "{name}_0001", None, ("{name}",), None

def upgrade() -> None:
    make_kernel_tables("{name}")
    for kind in set(Kind) - {{Kind.LEDGER, Kind.JOURNAL}}:  # journals are the kernel's own
        make_table("{name}." + kind.name.lower(), kind, sa.Column("name", sa.Text))
"""


@pytest.fixture(scope="module")
def fifteen(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A database with fifteen domains in it, made by `migrate` like every other."""
    targets = [Migrated(d.name, d.migrations, d.gate) for d in DOMAINS]
    for name in STAND_INS:
        folder: Path = tmp_path_factory.mktemp(name)
        (folder / f"{name}_0001.py").write_text(MIGRATION.format(name=name))
        targets.append(Migrated(name, folder))
    with database_apart(settings, "thenga_fifteen", targets) as made:
        yield made
    with psycopg.connect(settings.admin_database.get_secret_value(), autocommit=True) as admin:
        for name in STAND_INS:
            admin.execute(f"DROP ROLE {name}, {name}_system, {name}_owner")


@pytest.fixture
async def admin(fifteen: Settings) -> AsyncIterator[asyncpg.Connection]:
    """The administrator's connection, in a transaction that is undone."""
    connection = await asyncpg.connect(fifteen.admin_database.get_secret_value())
    undone = connection.transaction()
    await undone.start()
    yield connection
    await undone.rollback()
    await connection.close()


async def test_no_login_has_a_right_in_another_domains_schema(admin: asyncpg.Connection) -> None:
    swept = await grants.sweep(admin)

    print(
        f"roles={swept.logins} schemas={swept.schemas} privileges={len(grants.PRIVILEGES)} "
        f"rights={swept.rights} foreign_grants={len(swept.foreign)} faults={len(swept.faults)}"
    )
    assert swept.foreign == []
    assert swept.faults == []
    assert swept.schemas == ALL + 1  # and `public`, in which nobody has anything
    assert swept.logins >= 2 * ALL
    assert swept.rights > 0


PLANTED = {
    "a table read across": (
        "GRANT SELECT ON organization.equipment TO identity",
        "identity has SELECT on organization.equipment",
    ),
    "one column read across": (
        "GRANT SELECT (name) ON organization.equipment TO identity_gate",
        "identity_gate has SELECT on organization.equipment",
    ),
    "a schema opened": (
        "GRANT USAGE ON SCHEMA organization TO PUBLIC",
        "identity has USAGE on organization",
    ),
    "the common schema": (
        "GRANT CREATE ON SCHEMA public TO organization",
        "organization has CREATE on public",
    ),
    "a table that can be emptied": (
        "GRANT TRUNCATE ON organization.equipment TO organization_system",
        "organization_system has TRUNCATE on organization.equipment",
    ),
    "row security stepped over": (
        "ALTER ROLE organization BYPASSRLS",
        "organization has rolbypassrls",
    ),
    "another's role taken on": (
        "GRANT organization_system TO organization",
        "organization can become organization_system",
    ),
    "a function with its owner's rights": (
        "CREATE FUNCTION organization.wide() RETURNS int LANGUAGE sql SECURITY DEFINER "
        "AS 'SELECT 1'",
        "organization.wide is SECURITY DEFINER",
    ),
    "a view with its owner's rights": (
        "CREATE VIEW organization.wide AS SELECT * FROM organization.equipment",
        "organization.wide asks as its owner",
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
async def test_a_planted_right_is_found(admin: asyncpg.Connection, planted: str) -> None:
    statement, told = PLANTED[planted]
    await admin.execute(statement)

    swept = await grants.sweep(admin)

    assert told in [*swept.foreign, *swept.faults]
