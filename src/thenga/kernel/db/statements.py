"""Statements: composed with SQLAlchemy, compiled once, run on asyncpg itself.

SQLAlchemy's own cache key says whether two statements have the same shape; the text is rendered
once a shape and asyncpg keeps it prepared. The statements of the hot path (one row by its key,
insert, update) are rendered once a table and do not pass through SQLAlchemy at all.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement

_DIALECT = PGDialect_asyncpg()  # type: ignore[no-untyped-call]  # not annotated upstream
_COMPILED: dict[Any, SQLCompiler] = {}
_MOST_SHAPES = 5_000


def render(statement: ClauseElement) -> tuple[str, list[Any]]:
    """The text and the arguments of a statement, compiled at most once a shape."""
    key = statement._generate_cache_key()
    if key is None:
        raise TypeError("this statement cannot be cached; compose it from plain expressions")
    compiled = _COMPILED.get(key.key)
    if compiled is None:
        if len(_COMPILED) >= _MOST_SHAPES:
            # So many shapes mean that values are written into statements: a defect, not a load.
            raise RuntimeError("too many statement shapes; values must be bound, not written")
        made = statement.compile(dialect=_DIALECT, cache_key=key)
        assert isinstance(made, SQLCompiler)  # noqa: S101  # narrows the type for mypy
        compiled = _COMPILED[key.key] = made
    values = compiled.construct_params(extracted_parameters=key.bindparams, escape_names=False)
    return str(compiled), [values[name] for name in compiled.positiontup or ()]


def _name(table: sa.Table) -> str:
    return f'"{table.schema}"."{table.name}"'


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


@cache
def select_by(table: sa.Table, columns: tuple[str, ...], *, locking: bool = False) -> str:
    """One row by the columns named, in declared column order."""
    where = " AND ".join(f'"{name}" = ${n}' for n, name in enumerate(columns, 1))
    lock = " FOR UPDATE" if locking else ""
    return f"SELECT {_listed(table.c.keys())} FROM {_name(table)} WHERE {where}{lock}"


@cache
def insert(table: sa.Table) -> str:
    """Insert every declared column."""
    places = ", ".join(f"${n}" for n in range(1, len(table.c) + 1))
    return f"INSERT INTO {_name(table)} ({_listed(table.c.keys())}) VALUES ({places})"


@cache
def update(table: sa.Table, changed: tuple[str, ...], key: tuple[str, ...]) -> str:
    """Set the changed columns of the row that still has the version read."""
    sets = ", ".join(f'"{name}" = ${n}' for n, name in enumerate(changed, 1))
    where = " AND ".join(f'"{name}" = ${n}' for n, name in enumerate(key, len(changed) + 1))
    last = len(changed) + len(key) + 1
    return f"UPDATE {_name(table)} SET {sets} WHERE {where} AND version = ${last}"


@cache
def delete(table: sa.Table, key: tuple[str, ...]) -> str:
    """Remove one row; only short-lived rows (tokens, links) are ever removed."""
    where = " AND ".join(f'"{name}" = ${n}' for n, name in enumerate(key, 1))
    return f"DELETE FROM {_name(table)} WHERE {where}"
