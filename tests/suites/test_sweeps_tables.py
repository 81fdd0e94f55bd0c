"""Every table of every domain is of a named kind, and the classes say what the database has."""

from pathlib import Path

import asyncpg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from tests.suites import tables
from thenga import topology
from thenga.kernel.db import migrate
from thenga.kernel.db.rows import rows
from thenga.kernel.db.versions import newest
from thenga.kernel.declare.manifest import Domain

pytestmark = pytest.mark.no_retry

DOMAINS = topology.load(topology.DOMAINS)
NAMES = [domain.name for domain in DOMAINS]


async def test_every_table_has_the_policies_and_keys_of_its_kind(
    admin: asyncpg.Connection,
) -> None:
    swept = await tables.sweep(admin, [*NAMES, "probe"], rows())

    print(
        f"tables={swept.tables} forced={swept.forced} keys_without_tenant={swept.keys} "
        f"drifting={swept.drifting} faults={len(swept.faults)}"
    )
    assert swept.faults == []
    assert swept.forced == swept.tables - len([*NAMES, "probe"])  # one `migration` in each


def test_migrations_make_tables_only_through_the_kernel() -> None:
    assert tables.migration_faults(DOMAINS) == []


PLANTED = {
    "a table of no kind": (
        "CREATE TABLE organization.planted (id uuid PRIMARY KEY)",
        "organization.planted: is of no named kind",
    ),
    "a policy taken away": (
        "DROP POLICY holder ON organization.equipment",
        "organization.equipment: lacks the policy",
    ),
    "a wider policy beside the right one": (
        "CREATE POLICY wide ON organization.equipment FOR SELECT TO organization USING (true)",
        "organization.equipment: has a policy that its kind does not mean",
    ),
    "a policy that lets all through": (
        "ALTER POLICY holder ON organization.equipment USING (true)",
        "organization.equipment: has a policy that its kind does not mean",
    ),
    "row security that the owner skips": (
        "ALTER TABLE organization.fact NO FORCE ROW LEVEL SECURITY",
        "organization.fact: row security is not enabled and forced",
    ),
    "a unique key over all tenants": (
        "CREATE UNIQUE INDEX planted ON organization.equipment (serial_number, id)",
        "organization.equipment: key planted begins with serial_number",
    ),
    "an index of what is due taken away": (
        "DROP INDEX billing.invoice_due_any",
        "billing.invoice: lacks the index next_check_at",
    ),
    "a column that no class knows": (
        "ALTER TABLE organization.equipment ADD COLUMN planted text",
        "organization.equipment.planted: declared None",
    ),
    "a column of another type": (
        "ALTER TABLE organization.equipment ALTER COLUMN quantity TYPE bigint",
        "organization.equipment.quantity: declared ('integer', True), made ('bigint', True)",
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
async def test_a_planted_bug_in_a_table_is_found(admin: asyncpg.Connection, planted: str) -> None:
    statement, told = PLANTED[planted]
    await admin.execute(statement)

    swept = await tables.sweep(admin, NAMES, rows())

    assert [fault for fault in swept.faults if fault.startswith(told)]


def test_a_planted_table_beside_the_kernel_is_found(tmp_path: Path) -> None:
    (tmp_path / "planted_0001.py").write_text('op.execute("CREATE UNLOGGED TABLE x (id uuid)")')

    assert len(tables.folder_faults(tmp_path)) == 1


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_the_newest_migration_is_the_last_by_name(domain: Domain) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "alembic"))
    config.set_main_option("version_locations", str(domain.migrations))
    config.set_main_option("path_separator", "newline")

    assert newest(domain.migrations) == ScriptDirectory.from_config(config).get_current_head()
