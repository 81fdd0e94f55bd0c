"""`thenga migrations make`: what it writes runs, and leaves no difference to the classes."""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal
from uuid import UUID

import asyncpg
import pytest

from tests.stalls import MIGRATIONS, Place, Stall, Visit
from tests.suites.tables import sweep
from thenga import topology
from thenga.command import main
from thenga.kernel.access.actors import SYSTEM, Scope
from thenga.kernel.access.origin import Origin
from thenga.kernel.db.kinds import Kind
from thenga.kernel.db.migrate import Migrated, migrate
from thenga.kernel.db.migrating.making import NotMigrated, make_migration
from thenga.kernel.db.migrating.writing import new_table
from thenga.kernel.db.rows import BetweenRow, Col, TenantRow, col, rows
from thenga.kernel.db.work import Work
from thenga.kernel.process.host import Host
from thenga.kernel.process.settings import Settings

ORGANIZATION = UUID("019a0000-0000-7000-8000-0000000000c4")


class Plan(TenantRow, table="draft.plan", kind=Kind.PRIVATE, indexes=[("organization_id", "size")]):
    """A row of a domain that has no migration yet."""

    title: Col[str]
    size: Col[Literal["small", "large"]] = col(default="small")
    steps: Col[int] = col(default=3)
    is_shared: Col[bool] = col(default=False)
    words: Col[list[str]] = col(default=["it's", "new"])
    place: Col[Place] = col(default=Place(town="Giyani"))
    note: Col[str | None]


class Share(
    BetweenRow,
    table="draft.share",
    kind=Kind.BETWEEN,
    references=[(("organization_id", "plan_id"), "draft.plan", ("organization_id", "id"))],
    deletes=True,
):
    """A row with a foreign key, of two organizations."""

    plan_id: Col[UUID]


@pytest.fixture
async def admin(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(settings.admin_database.get_secret_value())
    await connection.execute("DROP SCHEMA IF EXISTS draft CASCADE")
    yield connection
    await connection.execute("DROP SCHEMA IF EXISTS draft CASCADE")
    await connection.close()


def work_for(host: Host) -> Work:
    scope = Scope(actor=SYSTEM, organization_id=ORGANIZATION)
    return Work(host, "draft", scope, Origin("test", "test", "test"))


def is_formatted(path: Path) -> bool:
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--config", "pyproject.toml", str(path)]
        done = subprocess.run(ruff, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            print(done.stdout, done.stderr, path.read_text())
            return False
    return True


async def test_the_first_migration_makes_the_tables_of_the_classes(
    settings: Settings, admin: asyncpg.Connection, tmp_path: Path
):
    target = Migrated("draft", tmp_path)

    made = make_migration(settings, target)
    migrate(settings, [target])
    again = make_migration(settings, target)
    swept = await sweep(admin, ["draft"], [r for r in rows() if r.__table__.schema == "draft"])

    assert made.path == tmp_path / "draft_0001.py"
    assert is_formatted(made.path)
    assert (made.by_hand, again.path, again.by_hand) == ([], None, [])
    assert (swept.faults, swept.keys, swept.drifting) == ([], 0, 0)
    indexes = await admin.fetch("SELECT indexname FROM pg_indexes WHERE schemaname = 'draft'")
    assert {"plan_organization_id_size_by", "share_key"} <= {row[0] for row in indexes}


async def test_a_changed_class_gets_the_next_migration(
    settings: Settings, host: Host, admin: asyncpg.Connection, tmp_path: Path
):
    target = Migrated("draft", tmp_path)
    make_migration(settings, target)
    migrate(settings, [target])
    work = work_for(host)
    plan = await work.add(Plan(organization_id=ORGANIZATION, title="Sheds", note=None))
    await work.finish()
    # As if the classes had changed: the tables are what an earlier version of them had made.
    await admin.execute(
        "UPDATE draft.plan SET note = 'x'; "
        "ALTER TABLE draft.plan DROP steps, DROP is_shared, DROP words, DROP place, "
        "ADD left_over text, ALTER note SET NOT NULL, ALTER size DROP NOT NULL, "
        "ALTER title TYPE varchar(20)"
    )

    made = make_migration(settings, target)
    migrate(settings, [target])
    again = make_migration(settings, target)

    assert made.path == tmp_path / "draft_0002.py"
    assert is_formatted(made.path)
    assert 'op.drop_column("plan", "left_over", schema="draft")' in made.path.read_text()
    assert [text.partition(":")[0] for text in made.by_hand] == ["plan.title", "plan.size"]
    assert (again.path, [text[:10] for text in again.by_hand]) == (None, ["plan.title"])
    reading = work_for(host)
    found = await reading.get(Plan, plan.id)
    await reading.close()
    assert (found.steps, found.is_shared, found.words) == (3, False, ["it's", "new"])
    assert found.place == Place(town="Giyani")


async def test_a_new_column_without_a_default_is_named(
    settings: Settings, admin: asyncpg.Connection, tmp_path: Path
):
    target = Migrated("draft", tmp_path)
    make_migration(settings, target)
    migrate(settings, [target])
    await admin.execute("ALTER TABLE draft.plan DROP title")

    made = make_migration(settings, target)

    assert made.by_hand == ["plan.title: give the rows that exist a value"]


async def test_a_database_behind_its_migrations_is_refused(
    settings: Settings, admin: asyncpg.Connection, tmp_path: Path
):
    target = Migrated("draft", tmp_path)
    make_migration(settings, target)

    with pytest.raises(NotMigrated, match="draft is at None, not at draft_0001"):
        make_migration(settings, target)


def test_the_tables_of_the_stalls_were_written_so():
    text = (MIGRATIONS / "stalls_0001.py").read_text()

    for row in (Stall, Visit):
        assert "\n".join(f"    {line}" for line in new_table(row)) in text


@pytest.mark.parametrize("name", topology.DOMAINS)
def test_no_domain_has_a_column_that_no_migration_made(settings: Settings, name: str):
    (domain,) = topology.load([name])

    made = make_migration(settings, Migrated(name, domain.migrations))

    print(made)
    assert made.path is None


def test_the_command_tells_that_nothing_is_left(
    settings: Settings, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        main(["migrations", "make", "bid"])

    assert (ended.value.code, capsys.readouterr().out) == (0, "nothing to write\n")
