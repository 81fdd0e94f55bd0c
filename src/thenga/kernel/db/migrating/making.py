"""`thenga migrations make`: the next migration of a domain, from its row classes.

Alembic compares the classes with the migrated database. Tables that are new, and columns that are
added, dropped or have become nullable or required are written; whatever else differs is listed,
because a person writes it.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from thenga.kernel.db.migrate import Migrated, admin_engine
from thenga.kernel.db.migrating.writing import new_column, new_table
from thenga.kernel.db.rows import METADATA, Row, rows
from thenga.kernel.process.settings import Settings

_KERNEL = "thenga.kernel."  # its tables are made by `make_kernel_tables`


class NotMigrated(RuntimeError):
    """The database is not at the newest migration, so a comparison would say nothing."""


@dataclass
class Made:
    """What was written, and what a person has to write."""

    path: Path | None = None  # None if the classes and the tables agree
    by_hand: list[str] = field(default_factory=list)


@dataclass
class _Steps:
    """The statements of one migration, and what its module imports."""

    tables: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)


def make_migration(settings: Settings, target: Migrated) -> Made:
    """Write the next migration of a domain, if its classes and its tables differ."""
    domain = target.domain
    written = target.versions.glob(f"{domain}_[0-9][0-9][0-9][0-9].py")
    newest = max((path.stem for path in written), default=None)
    engine = admin_engine(settings, domain)
    try:
        with engine.connect() as connection:
            _check_version(connection, domain, newest)
            found = list(_differences(connection, domain))
    finally:
        engine.dispose()
    steps = _Steps()
    for difference in found:
        _add_step(steps, difference)
    made = Made(by_hand=steps.by_hand)
    if steps.tables or steps.lines:
        number = 1 if newest is None else int(newest.rpartition("_")[2]) + 1
        made.path = target.versions / f"{domain}_{number:04}.py"
        made.path.write_text(_module(domain, made.path.stem, newest, steps))
    return made


def _check_version(connection: sa.Connection, domain: str, newest: str | None) -> None:
    known = connection.exec_driver_sql("SELECT to_regclass(%s)", (f"{domain}.migration",)).scalar()
    current = None
    if known is not None:
        current = connection.exec_driver_sql(
            f"SELECT version_num FROM {domain}.migration"  # a name of ours
        ).scalar()
    if current != newest:
        raise NotMigrated(f"{domain} is at {current}, not at {newest}: run `thenga migrate` first")


def _own_rows(domain: str) -> dict[str, type[Row]]:
    return {
        row.__table__.name: row
        for row in rows()
        if row.__table__.schema == domain and not row.__module__.startswith(_KERNEL)
    }


def _differences(connection: sa.Connection, domain: str) -> Iterator[tuple[Any, ...]]:
    """Alembic's differences of the tables that have a class, one after another."""
    own = _own_rows(domain)

    def is_compared(item: Any, name: str | None, kind: str, *_: Any) -> bool:
        if kind == "table":
            return item.schema == domain and name in own
        return kind == "column"

    def is_read(name: str | None, kind: str, _: Any) -> bool:
        return kind != "schema" or name == domain

    options = {
        "include_schemas": True,
        "include_object": is_compared,
        "include_name": is_read,
        "compare_type": True,
    }
    context = MigrationContext.configure(connection, opts=options)
    with warnings.catch_warnings():
        # A column that PostgreSQL computes has a type that SQLAlchemy does not know, and no class.
        warnings.filterwarnings("ignore", "Did not recognize type")
        compared = compare_metadata(context, METADATA)
    for found in compared:
        yield from found if isinstance(found, list) else [found]


def _add_step(steps: _Steps, difference: tuple[Any, ...]) -> None:
    verb = difference[0]
    if verb in ("add_table_comment", "remove_table_comment"):
        return  # the kind, which `make_table` writes
    if verb == "add_table":
        table = difference[1]
        steps.tables.append(table.name)
        steps.lines += new_table(_own_rows(table.schema)[table.name])
        return
    _, domain, table, *rest = difference
    if verb == "add_column":
        row = _own_rows(domain)[table]
        lines, is_filled = new_column(row, rest[0])
        steps.lines += lines
        if not is_filled:
            steps.by_hand.append(f"{table}.{rest[0].name}: give the rows that exist a value")
    elif verb == "remove_column":
        steps.lines.append(f'op.drop_column("{table}", "{rest[0].name}", schema="{domain}")')
    elif verb == "modify_nullable":
        column, nullable = rest[0], rest[-1]
        changed = f'"{table}", "{column}", nullable={nullable}, schema="{domain}"'
        steps.lines.append(f"op.alter_column({changed})")
        if not nullable:
            steps.by_hand.append(f"{table}.{column}: give the rows without one a value")
    else:
        column = rest[0] if rest else table
        steps.by_hand.append(f"{table}.{column}: {verb} from {rest[-2]!r} to {rest[-1]!r}")


_MAKERS = ("day", "flag", "ident", "instant", "json", "number", "octets", "text", "texts", "whole")


def _module(domain: str, revision: str, down: str | None, steps: _Steps) -> str:
    """The text of the migration."""
    lines = list(steps.lines)
    if down is None:
        lines.insert(0, f'make_kernel_tables("{domain}")')
    body = "\n".join(lines)
    what = f"Make {_listed(steps.tables)}" if steps.tables else "Change columns"
    return "\n".join(
        [
            f'"""{what}."""',
            "",
            *_imports(body),
            f'revision = "{revision}"',
            f'down_revision = "{down}"' if down else "down_revision = None",
            f'branch_labels = ("{domain}",)' if down is None else "branch_labels = None",
            "depends_on = None",
            "",
            "",
            "def upgrade() -> None:",
            *(f"    {line}" for line in body.split("\n")),
            "",
        ]
    )


def _imports(body: str) -> Iterator[str]:
    foreign = [
        *(["import sqlalchemy as sa"] if "sa." in body else []),
        *(["from alembic import op"] if "op." in body else []),
        *(["from sqlalchemy.dialects import postgresql as pg"] if "pg." in body else []),
    ]
    own = []
    if made := [name for name in _MAKERS if re.search(rf"(?<![.\w]){name}\(", body)]:
        own.append(f"from thenga.kernel.db.columns import {', '.join(made)}")
    if "Kind." in body:
        own.append("from thenga.kernel.db.kinds import Kind")
    if tools := [name for name in ("make_kernel_tables", "make_table") if f"{name}(" in body]:
        own.append(f"from thenga.kernel.db.migrating import {', '.join(tools)}")
    for block in (foreign, own):
        if block:
            yield from (*block, "")


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
